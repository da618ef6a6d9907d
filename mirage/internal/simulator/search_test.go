package simulator

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
)

// played returns jobs whose actual waits are those of a machine of 40 nodes
// with 4 jobs a user.
func played(t *testing.T) []trace.Job {
	jobs, err := synth.Default().Generate(t.Context(), synth.Settings{Days: 21, Start: 1_670_000_000, NodeHoursPerDay: .95 * 40 * 24, MaxNodes: 40, Seed: 6})
	if err != nil {
		t.Fatal(err)
	}
	return replayed(t, jobs, cluster.Machine{Nodes: 40})
}

// replayed returns jobs with the waits that they have on a machine with 4 jobs
// a user.
func replayed(t *testing.T, jobs []trace.Job, m cluster.Machine) []trace.Job {
	rules := cluster.Defaults(cluster.Slurm)
	rules.UserLimit = 4
	w, err := NewWorkload(jobs, Config{Machine: m, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Simulate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		jobs[i].Start, jobs[i].End, _ = r.Times(i)
	}
	return jobs
}

// TestSearchRecovers: the settings that made the waits are found, and have no
// loss.
func TestSearchRecovers(t *testing.T) {
	jobs := played(t)
	grid := Grid{From: jobs[0].Submit, To: jobs[len(jobs)-1].Submit + 1, Nodes: []int{44, 42, 40, 38}, UserLimits: []int{0, 8, 4}, Logged: []float64{0}, Size: []float64{400, 100}}
	found, err := Search(t.Context(), jobs, grid, 2, func() {})
	if err != nil {
		t.Fatal(err)
	}
	c := found.Config
	if c.Nodes != 40 || c.UserLimit != 4 || c.Weights.Size != 100 || found.Loss > 1e-12 {
		t.Errorf("%d nodes, %d jobs a user, size %v, loss %v", c.Nodes, c.UserLimit, c.Weights.Size, found.Loss)
	}
	if testing.Short() {
		return
	}
	again, err := Search(t.Context(), jobs, grid, 1, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(found, again); diff != "" {
		t.Errorf("one worker and two differ: %s", diff)
	}
}

func TestGridFor(t *testing.T) {
	jobs := played(t)
	g := GridFor(jobs, jobs[0].Submit, math.MaxInt64)
	if g.Nodes[0] != (&trace.Trace{Jobs: jobs}).PeakNodes() || g.UserLimits[1] != 4 {
		t.Errorf("%+v", g)
	}
}

func TestLossWithoutWaits(t *testing.T) {
	w, err := NewWorkload([]trace.Job{{ID: "1", Nodes: 1, Limit: 60}}, Config{Machine: cluster.Machine{Nodes: 1}, Rules: cluster.Defaults(cluster.EASY)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Simulate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := Loss(r, math.MinInt64, math.MaxInt64); !math.IsInf(l, 1) {
		t.Errorf("loss %v, want infinite", l)
	}
}

func TestSearchRefuses(t *testing.T) {
	jobs := played(t)
	if _, err := Search(t.Context(), jobs, GridFor(jobs, 0, 1), 1, func() {}); !errors.Is(err, ErrRange) {
		t.Errorf("error %v", err)
	}
}
