package balance_test

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/chamtool/internal/balance"
)

// Rank 0 has four seconds of work left and rank 1 has none: two seconds move,
// long tasks first.
func ExampleSituation_Transfers() {
	tasks := []float64{0.5, 1.5, 1.5, 0.5} // predicted seconds of rank 0's tasks
	s := balance.Situation{Loads: []float64{4, 0}, Workers: 1, TaskSeconds: 1, Every: math.Inf(1)}
	for _, m := range balance.Moves(tasks, balance.TransfersFrom(0, s.Transfers()), 0.0001, -1) {
		fmt.Printf("task %d moves to rank %d\n", m.Task, m.To)
	}
	// Output:
	// task 1 moves to rank 1
	// task 0 moves to rank 1
}
