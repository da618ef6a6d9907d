package samples_test

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
)

func Example() {
	const day = 86400
	jobs, err := synth.Default().Generate(context.Background(), synth.Settings{Days: 14, NodeHoursPerDay: 20 * 24, MaxNodes: 40, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 40}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := samples.Plan{Episodes: 4, Probes: 3, Interval: day, Start: 7 * day, History: 7 * day, Service: chain.Service{Nodes: 1, Limit: 6 * 3600}}
	set, err := plan.Generate(context.Background(), w, 2, func() {})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := set.Samples[2] // the last probe submits when the predecessor ends
	fmt.Println(len(set.Samples), "samples of", len(s.X), "features;", s.Decision == s.PredEnd)
	// Output:
	// 12 samples of 70 features; true
}
