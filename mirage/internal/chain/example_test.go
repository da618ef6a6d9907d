package chain_test

import (
	"fmt"
	"log"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

func Example() {
	jobs := []trace.Job{{ID: "a", User: "ann", Nodes: 3, End: 7200, Limit: 7200}}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		log.Fatal(err)
	}
	pair, err := chain.Begin(w.New(), 60, chain.Service{Nodes: 2, Limit: 48 * 3600})
	if err != nil {
		log.Fatal(err)
	}
	outcome, err := pair.SubmitNow()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.InterruptionHours(), outcome.OverlapHours())
	// Output:
	// 0 48
}
