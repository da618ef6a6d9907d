package simulate_test

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/simulate"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// Rank 0 ran twenty tasks of 10 ms, rank 1 none.
func ExampleForecastMakespans() {
	busy := job.Rank{Log: &task.Log{}, Summary: &summary.Summary{Rounds: []summary.Round{{Created: 20, End: 0.2}}}}
	idle := job.Rank{Rank: 1, Log: &task.Log{}, Summary: &summary.Summary{Rounds: []summary.Round{{End: 0.2}}}}
	for n := range 20 {
		busy.Log.Rows = append(busy.Log.Rows, task.Row{Flag: "local", Entry: "work", Start: 0.01 * float64(n), Seconds: 0.01})
	}
	forecasts, err := simulate.ForecastMakespans(context.Background(), &job.Job{Ranks: []job.Rank{busy, idle}}, simulate.Parameters{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range forecasts {
		fmt.Printf("%s: %.2f s, %d moves\n", f.Policy, f.Makespan.Value, f.Moves)
	}
	// Output:
	// none: 0.20 s, 0 moves
	// reactive: 0.10 s, 10 moves
	// proactive: 0.10 s, 10 moves
}
