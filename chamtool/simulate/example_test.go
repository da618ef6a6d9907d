package simulate_test

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/chamtool/simulate"
)

func ExampleRun() {
	p := simulate.Parameters{Ranks: 8, TasksPerRank: 100, Imbalance: 1, Error: 36, Seed: 1, Policy: simulate.Proactive}
	r, err := simulate.Run(context.Background(), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.MakespanSeconds < 1.05*r.IdealSeconds, r.InitialImbalance > 0.8)
	// Output: true true
}
