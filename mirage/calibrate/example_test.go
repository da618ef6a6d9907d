package calibrate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/foretime/foretime/mirage/calibrate"
	"github.com/foretime/foretime/mirage/trace/synth"
)

func Example() {
	jobs, err := synth.Default().Generate(synth.Settings{Jobs: 400, MaxNodes: 8, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	from, to := jobs[0].Submit, jobs[len(jobs)-1].Submit+1
	grid := calibrate.Grid{Nodes: []int{8, 7}, UserLimits: []int{0}, Logged: []float64{0}, Size: []float64{100}, Age: []float64{7000}}
	found, err := calibrate.Search(context.Background(), jobs, from, to, grid, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Config.Nodes, "nodes")
	// Output:
	// 8 nodes
}
