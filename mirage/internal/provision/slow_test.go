package provision

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/slurmview"
)

// slow is a Slurm that takes so long to list its nodes, and to accept a job.
type slow struct {
	*world
	nodes, sbatch time.Duration
}

func (s *slow) Run(ctx context.Context, argv []string, held *os.File) ([]byte, error) {
	switch {
	case argv[len(argv)-1] == "nodes":
		s.pass(s.nodes)
	case argv[0] == "sbatch":
		s.pass(s.sbatch)
	}
	return s.world.Run(ctx, argv, held)
}

// TestSlow: a slow Slurm delays no successor: at the end of a service nothing is asked
// before the submission, and the time that a submission takes is part of the lead.
func TestSlow(t *testing.T) {
	lead := policy.Fixed{LeadHours: 10. / 3600}
	for name, tt := range map[string]struct {
		s           slow
		policy      policy.Policy
		interval    time.Duration
		least, most int64 // seconds from the planned end of the second service to the submission of the third
	}{
		"a slow list":       {slow{nodes: 5 * time.Second}, policy.Fixed{}, 30 * time.Second, 0, 1},
		"a slow submission": {slow{sbatch: 8 * time.Second}, lead, time.Second, -12, -9},
	} {
		tt.s.world = newWorld(5)
		s := tt.s.settings(tt.policy, 3)
		s.Client, s.Interval, s.Poll = &slurmview.Client{Runner: &tt.s}, tt.interval, time.Second
		tt.s.service += 3 * time.Second // Slurm ends a job a little later than planned
		l, _, err := life(t.TempDir(), s)
		if err != nil || len(tt.s.jobs) != 3 {
			t.Fatalf("%s: %v, %d jobs", name, err, len(tt.s.jobs))
		}
		if got := tt.s.jobs[2].Submit - l.Links[1].Start - 60; got < tt.least || got > tt.most {
			t.Errorf("%s: submitted %d s after the planned end, want %d to %d", name, got, tt.least, tt.most)
		}
	}
}
