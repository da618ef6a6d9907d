package estimate

import (
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
)

// TestBursts estimates a job of 0.1 s for each epoch whose lines come in bursts: a stall, or a
// buffer, holds them back and then they come at once, or as far apart as a busy machine leaves them.
func TestBursts(t *testing.T) {
	for _, tt := range []struct {
		name string
		most float64             // seconds from line to line within a burst
		held func(epoch int) int // the last epoch of the burst that holds this one
	}{
		{"a stall of five epochs", 0.8e-3, func(i int) int {
			if i >= 6 && i <= 10 {
				return 10
			}
			return i
		}},
		{"a stall up to the end of the set-up", 0.2e-3, func(i int) int { return max(i, 5) }},
		{"a buffer of four lines", 0.8e-3, func(i int) int { return (i + 3) / 4 * 4 }},
	} {
		for _, apart := range []float64{0, 20e-6, tt.most} {
			r := journal.Run{Epochs: 20, Wall: 3, CPU: 2.9, Threads: 1, CPUs: 2}
			for i := 0; i <= r.Epochs; i++ {
				at := 1 + 0.1*float64(tt.held(i)) - apart*float64(tt.held(i)-i)
				r.Marks = append(r.Marks, progress.Mark{Number: float64(i), Seconds: at})
			}
			e, err := New([]journal.Run{r}, cpu(500), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			near(t, tt.name, e.Wall.Value, 51, 0.05)
			rest, err := Continue(r.Marks, nil, cpu(500), 0.95)
			if err != nil {
				t.Fatal(err)
			}
			near(t, tt.name+", continued", rest.Total.Value, 51, 0.05)
		}
	}
}
