package validation_test

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
	"github.com/foretime/foretime/mirage/internal/validation"
)

// A service on a machine with a little too much to do: the longer it is
// submitted ahead, the less it is interrupted.
func Example() {
	const day = 86400
	jobs, err := synth.Default().Generate(context.Background(), synth.Settings{Days: 28, NodeHoursPerDay: 40 * 24, MaxNodes: 40, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 40}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := samples.Plan{Episodes: 10, Interval: day, Start: 10 * day, History: 10 * day, Service: chain.Service{Nodes: 2, Limit: 12 * 3600}}
	play := func(p policy.Policy) []validation.Played {
		played, err := validation.Episodes{Workload: w, Plan: plan, Workers: 2}.Play(context.Background(), validation.With(p))
		if err != nil {
			fmt.Println(err)
		}
		return played[0]
	}
	reactive := play(policy.Fixed{})
	late := validation.Summarise(reactive, reactive, plan, chain.Cost{Overlap: 1})
	ahead := validation.Summarise(play(policy.Fixed{LeadHours: 6}), reactive, plan, chain.Cost{Overlap: 1})
	fmt.Println(ahead.Episodes, "episodes; less interruption:", ahead.InterruptionHours.Mean.Value < late.InterruptionHours.Mean.Value)
	// Output:
	// 10 episodes; less interruption: true
}
