package slurm

import (
	"strings"
	"testing"
	"time"
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
		s := plainSite()
		s["show reservations"] = tt.reservation
		c := &Client{Runner: s}
		k, err := c.Controller(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var warnings []string
		p := &Provisioner{k: k, doubted: map[string]bool{}, s: Settings{
			Client: c, Clock: stopped{}, Request: Request{Nodes: tt.nodes, Limit: 6 * time.Hour, Options: tt.options},
			Warn: func(err error) { warnings = append(warnings, err.Error()) },
		}}
		for range 2 {
			if err := p.observeQueue(t.Context()); err != nil {
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
