package simulator_test

import (
	"context"
	"fmt"
	"math"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

func Example() {
	jobs := []trace.Job{
		{ID: "a", User: "ann", Nodes: 3, Submit: 0, Start: 0, End: 7200, Limit: 7200},
		{ID: "b", User: "bob", Nodes: 2, Submit: 600, Start: 600, End: 4200, Limit: 3600},
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{
		Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(cluster.Slurm),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := w.Simulate(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	start, end, _ := result.Times(1)
	m := result.MetricsBetween(0, math.MaxInt64)
	fmt.Printf("b runs from %d to %d; %d jobs waited %.2f h on average\n", start, end, m.Jobs, m.MeanWaitHours)
	// Output:
	// b runs from 7200 to 10800; 2 jobs waited 0.92 h on average
}
