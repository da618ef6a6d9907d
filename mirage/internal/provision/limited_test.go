package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/slurmview"
)

// limited is a Slurm that rejects successors: so many, or all, in the words of its
// version.
type limited struct {
	*world
	rejects int
	says    string
	times   []time.Time // of the rejections
	reason  string      // of pending jobs
	first   bool        // it rejects the first service too
}

func (l *limited) Run(ctx context.Context, argv []string, held *os.File) ([]byte, error) {
	if argv[0] == "sbatch" && (len(l.jobs) > 0 || l.first) && l.rejects > 0 {
		l.rejects--
		l.times = append(l.times, l.now)
		return nil, fmt.Errorf("sbatch: %w: exit status 1: %s", slurmview.ErrCommand, l.says)
	}
	b, err := l.world.Run(ctx, argv, held)
	if argv[0] == "squeue" && l.reason != "" {
		b = []byte(strings.ReplaceAll(string(b), `"PENDING"`, `"PENDING","state_reason":"`+l.reason+`"`))
	}
	return b, err
}

const submitLimit = "sbatch: error: AssocMaxSubmitJobLimit; sbatch: error: Batch job submission failed: slurmview.Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"

// TestSubmitLimit: a limit that passes delays the successor; one that does not ends the
// run before the service does; the job is submitted once.
func TestSubmitLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		rejects int
		says    string
		want    error
		jobs    int
	}{
		"passes":    {4, submitLimit, nil, 2},
		"old words": {2, strings.TrimPrefix(submitLimit, "sbatch: error: AssocMaxSubmitJobLimit; "), nil, 2},
		"stays":     {1 << 30, submitLimit, ErrRefused, 1},
		"for good":  {1 << 30, "sbatch: error: QOSMaxWallDurationPerJobLimit; sbatch: error: Batch job submission failed: slurmview.Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", ErrRefused, 1},
	} {
		l := &limited{world: newWorld(5), rejects: tt.rejects, says: tt.says}
		s := l.settings(early(1800), 2)
		s.Client, s.Service, s.Request.Limit = &slurmview.Client{Runner: l}, time.Hour, time.Hour
		l.service = time.Hour
		var warnings []error
		s.Warn = func(err error) { warnings = append(warnings, err) }
		s.Interval, s.Poll = time.Minute, 20*time.Second
		ledger, _, err := life(t.TempDir(), s)
		if !errors.Is(err, tt.want) || len(l.jobs) != tt.jobs {
			t.Errorf("%s: %v, %d jobs; want %v, %d", name, err, len(l.jobs), tt.want, tt.jobs)
			continue
		}
		end := time.Unix(ledger.Links[0].Start, 0).Add(time.Hour)
		switch said := func(e error) bool { return errors.Is(e, ErrLimited) }; name {
		case "for good":
			if len(l.times) != 1 {
				t.Errorf("%s: tried %d times", name, len(l.times))
			}
		case "stays":
			if last := slices.MaxFunc(l.times, time.Time.Compare); last.After(end) || end.Sub(last) > 15*time.Minute {
				t.Errorf("%s: last tried at %v, the service ends at %v", name, last, end)
			}
			fallthrough
		default:
			if !slices.ContainsFunc(warnings, said) {
				t.Errorf("%s: no warning in %v", name, warnings)
			}
		}
	}
}

// TestFirstNeverStarts: the first service's job that will never start ends the run.
func TestFirstNeverStarts(t *testing.T) {
	for reason, want := range map[string]error{"QOSMaxNodePerJobLimit": ErrNeverStarts, "AccountNotAllowed": ErrNeverStarts, "QOSMaxJobsPerUserLimit": nil} {
		l := &limited{world: newWorld(5), reason: reason}
		s := l.settings(early(1800), 1)
		s.Client = &slurmview.Client{Runner: l}
		_, _, err := life(t.TempDir(), s)
		if want == nil && err != nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", reason, err, want)
		}
	}
}

// TestFirstLimited: a limit at the first submission is reported at once.
func TestFirstLimited(t *testing.T) {
	l := &limited{world: newWorld(5), rejects: 1 << 30, says: submitLimit, first: true}
	s := l.settings(early(1800), 2)
	s.Client = &slurmview.Client{Runner: l}
	if _, _, err := life(t.TempDir(), s); !errors.Is(err, ErrRefused) || len(l.times) != 1 {
		t.Errorf("%v after %d submissions", err, len(l.times))
	}
}
