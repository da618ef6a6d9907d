package provision

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/slurmview"
)

// A maintenance that leaves too few nodes for the service is announced once, a day and a
// limit before it begins; one that leaves enough, or is the service's own, is not.
func TestGapAnnounced(t *testing.T) {
	for name, tt := range map[string]struct {
		reservation string
		nodes       int
		options     []string
		want        string
	}{
		"all nodes":       {reserved("upgrade", "w[1-3]", "03T08:00:00", "03T20:00:00", "MAINT"), 1, nil, "reservation upgrade leaves 0 of 3 nodes from 2026-03-03 08:00:00 to 2026-03-03 20:00:00: no service can run in that time, so the chain has a gap of 12h0m0s or more"},
		"it has begun":    {reserved("upgrade", "w[1-3]", "02T08:00:00", "02T20:00:00", "MAINT"), 1, nil, "a gap of 8h0m0s or more"},
		"enough are left": {reserved("upgrade", "w1", "03T08:00:00", "03T20:00:00", "MAINT"), 2, nil, ""},
		"one is missing":  {reserved("upgrade", "w1", "03T08:00:00", "03T20:00:00", "MAINT"), 3, nil, "leaves 2 of 3 nodes"},
		"in a week":       {reserved("upgrade", "w[1-3]", "09T08:00:00", "09T20:00:00", "MAINT"), 1, nil, ""},
		"every day":       {reserved("course", "w[1-3]", "01T14:00:00", "01T16:00:00", "DAILY"), 1, nil, "from 2026-03-02 14:00:00 to 2026-03-02 16:00:00"},
		"its own":         {reserved("ours", "w[1-3]", "02T08:00:00", "03T20:00:00", "SPEC_NODES"), 1, []string{"--reservation=ours"}, ""},
	} {
		c := &slurmview.Client{Runner: reservedSite(tt.reservation)}
		k, err := c.Controller(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var warnings []string
		p := &Provisioner{k: k, ledger: &Ledger{}, doubted: map[string]bool{}, s: Settings{
			Client: c, Clock: stopped{}, Request: Request{Nodes: tt.nodes, Limit: 6 * time.Hour, Options: tt.options},
			Warn: func(err error) { warnings = append(warnings, err.Error()) },
		}}
		for range 2 {
			if err := p.look(t.Context(), nil, noon); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		all := strings.Join(warnings, "\n")
		if tt.want == "" && len(warnings) > 0 || tt.want != "" && strings.Count(all, tt.want) != 1 {
			t.Errorf("%s: %q, want %q once", name, all, tt.want)
		}
	}
}

// stopped is a clock that stays at noon.
type stopped struct{ Wall }

func (stopped) Now() time.Time { return noon }

// noon is the time of the questions.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// reservedSite is an idle Slurm of three nodes with a reservation.
type reservedSite string

func (s reservedSite) Run(_ context.Context, argv []string, _ *os.File) ([]byte, error) {
	for words, text := range map[string]string{
		"show config":       "MessageTimeout = 10 sec\nMinJobAge = 300 sec\nAccountingStorageType = accounting_storage/none\n",
		"show nodes":        "NodeName=w1 CPUTot=16 State=IDLE Partitions=std\nNodeName=w2 CPUTot=16 State=IDLE Partitions=std\nNodeName=w3 CPUTot=16 State=IDLE Partitions=std\n",
		"show partitions":   "PartitionName=std Default=YES State=UP\n",
		"show reservations": string(s),
		"squeue":            `{"jobs":[]}`,
	} {
		if strings.Contains(strings.Join(argv, " "), words) {
			return []byte(text), nil
		}
	}
	return nil, nil
}

func reserved(name, nodes, from, to, flags string) string {
	return fmt.Sprintf("ReservationName=%s StartTime=2026-03-%s EndTime=2026-03-%s Nodes=%s Flags=%s Users=root State=INACTIVE\n", name, from, to, nodes, flags)
}
