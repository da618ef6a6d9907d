package estimate_test

import (
	"fmt"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/journal"
)

// Two short runs, of 5 and 10 epochs, say how long 500 epochs take: 2 s of
// set-up and 1 s of teardown once, and half a second an epoch.
func ExampleNew() {
	run := func(epochs int) journal.Run {
		r := journal.Run{Epochs: epochs, Laps: []float64{2}, Wall: 3}
		for range epochs {
			r.Laps = append(r.Laps, 0.5)
			r.Wall += 0.5
		}
		r.Laps = append(r.Laps, 1)
		r.CPU = r.Wall
		return r
	}
	job := estimate.Job{Epochs: 500, Device: "cpu"}
	e, err := estimate.New([]journal.Run{run(5), run(10)}, job, estimate.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f s, an epoch %.1f s\n", e.Wall.Value, e.Segments.Epoch)
	// Output: 253 s, an epoch 0.5 s
}
