package validation

import (
	"flag"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
	"github.com/foretime/foretime/shared/uncertainty"
)

var months = flag.Int("months", 0, "synthetic months to hold the intervals of mean costs against")

// month is the mean cost of the average baseline over 28 days of a synthetic
// queue, an episode each 6 h, with its interval over blocks and the one that
// takes episodes for independent.
func month(t *testing.T, seed uint64) (blocked, naive uncertainty.Prediction) {
	t.Helper()
	const day, nodes = 86400, 40
	jobs, err := synth.Default().Generate(t.Context(), synth.Settings{Days: 46, NodeHoursPerDay: .8 * nodes * 24, MaxNodes: nodes, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: nodes}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		t.Fatal(err)
	}
	plan := samples.Plan{
		Episodes: 112, Probes: 2, Interval: day / 4, Start: jobs[0].Submit + 10*day, History: 10 * day,
		Service: chain.Service{Nodes: 2, Limit: 48 * 3600, Priority: 1000},
	}
	played, err := Episodes{Workload: w, Plan: plan, Workers: 2}.Play(t.Context(), With(policy.Fixed{}, policy.Average{}))
	if err != nil {
		t.Fatal(err)
	}
	costs := Costs(played[1], chain.Cost{Overlap: 1})
	alone := make([]int, len(costs))
	for i := range alone {
		alone[i] = i
	}
	blocked, _, _ = blockMean(costs, Blocks(plan, played[0]))
	if naive, err = uncertainty.Student(costs, alone, level); err != nil {
		t.Fatal(err)
	}
	return blocked, naive
}

// TestMonths tells how often the 95 % intervals of a month's mean cost hold the
// mean of all months, and how often those do that take overlapping episodes for
// independent. Months of such a queue differ as wholes, which none of them can
// tell, so that neither holds 95 times of 100.
func TestMonths(t *testing.T) {
	if *months == 0 {
		t.Skip("takes minutes: -months 200")
	}
	blocked, naive := make([]uncertainty.Prediction, *months), make([]uncertainty.Prediction, *months)
	means := make([]float64, *months)
	for i := range *months {
		blocked[i], naive[i] = month(t, uint64(i+1))
		means[i] = blocked[i].Value
	}
	truth := stat.Mean(means, nil)
	share := func(of []uncertainty.Prediction) float64 {
		n := 0.
		for _, p := range of {
			if p.Contains(truth) {
				n++
			}
		}
		return n / float64(len(of))
	}
	t.Logf("%d months, mean cost %.2f h, between months %.2f: intervals hold %.3f, those of episodes taken for independent %.3f", *months, truth, stat.StdDev(means, nil), share(blocked), share(naive))
	if share(blocked) < share(naive)+.1 {
		t.Error("to take episodes for independent holds as often")
	}
}
