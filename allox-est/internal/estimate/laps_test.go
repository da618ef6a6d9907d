package estimate

import (
	"math"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// Laps of fifty steps: the job's length and its costs are in steps.
func TestLaps(t *testing.T) {
	var runs []journal.Run
	for _, steps := range []int{150, 450} {
		r := journal.Run{Device: "cpu", Threads: 1, CPUs: 2, Epochs: steps, Wall: 1.1}
		r.Laps = []float64{1 + 2}
		for k := 2; k <= steps/50; k++ {
			lap := 2 + 0.01*math.Sin(float64(k*k))
			if k%4 == 0 { // the evaluation every 200 steps
				lap += 3
			}
			r.Laps = append(r.Laps, lap)
		}
		r.Laps = append(r.Laps, 0.1)
		r.Wall = 0
		for _, lap := range r.Laps {
			r.Wall += lap
		}
		r.CPU, r.LapCPU = r.Wall, r.Laps
		r.Marks = r.Timeline()
		for i := range r.Marks {
			r.Marks[i].Number = float64(50 * (i + 1))
		}
		runs = append(runs, r)
	}
	e, err := New(runs, Job{Epochs: 10000, Unit: "step", Device: "cpu"}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if want := 1.1 + 200*2 + 50*3; math.Abs(e.Wall.Value/want-1) > 0.1 || !e.Wall.Contains(want) {
		t.Errorf("%+v, want %v", e.Wall, want)
	}
	s := e.Segments
	if e.Epochs != 600 || math.Abs(s.Epoch-2.0/50-3.0/200) > 0.005 {
		t.Errorf("%d steps, %+v", e.Epochs, s)
	}
	if runs[0].Epochs != 150 {
		t.Error("the caller's runs are changed")
	}
}
