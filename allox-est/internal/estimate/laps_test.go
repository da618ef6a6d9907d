package estimate

import (
	"math"
	"slices"
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

// The laps at the start that are slower than the noise of the later half are warm-up, unless
// they get faster for more than half of the run.
func TestWarmUp(t *testing.T) {
	for name, tt := range map[string]struct {
		rates   [][]float64 // by run
		settled []bool
		want    int
	}{
		"a slow first lap":                     {[][]float64{{2, 1, 1, 1, 1, 1}}, nil, 1},
		"two slow laps":                        {[][]float64{{3, 2, 1, 1, 1, 1}}, nil, 2},
		"a tenth slower":                       {[][]float64{{1.09, 1, 1, 1, 1, 1}}, nil, 0},
		"more than a tenth slower":             {[][]float64{{1.12, 1, 1, 1, 1, 1}}, nil, 1},
		"a slow lap after a usual one":         {[][]float64{{1, 2, 1, 1, 1, 1}}, nil, 0},
		"half of the run":                      {[][]float64{{9, 7, 5, 1, 1, 1}}, nil, 3},
		"more than half of it":                 {[][]float64{{64, 32, 16, 8, 1, 1, 1}}, nil, 0},
		"one that all runs end in":             {[][]float64{{5, 1}}, nil, 1},
		"a lap alone":                          {[][]float64{{5}}, nil, 0},
		"a run that ends where another begins": {[][]float64{{5, 1}, {5, 1, 1, 1, 1, 1, 1, 1}}, nil, 1},
		"a run that has settled":               {[][]float64{{5, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}}, []bool{false, true}, 1},
		"slow to its end beside one that has":  {[][]float64{{5, 5}, {1, 1, 1, 1}}, []bool{false, true}, 1},
		"runs that end in it":                  {append(slices.Repeat([][]float64{{5, 5}}, 5), []float64{5, 5, 1, 1, 1, 1}), nil, 2},
		"no laps":                              {[][]float64{nil}, nil, 0},
		"two laps finer than the clock":        {[][]float64{{1, 0}}, nil, 0},
		"more than the noise of long laps":     {[][]float64{{13.5, 10, 10, 10, 9, 11, 9, 11}}, nil, 1},
		"as slow as runs that have settled":    {[][]float64{{5, 5}, {5, 5, 5, 5}}, []bool{false, true}, 0},
		"finer than the clock":                 {[][]float64{{1, 0, 0, 0, 0, 0}}, nil, 0},
		"less than twice the noise":            {[][]float64{{1.2, 1, 1, 1, 0.9, 1.1, 0.9, 1.1}}, nil, 0},
		"more than twice the noise":            {[][]float64{{1.35, 1, 1, 1, 0.9, 1.1, 0.9, 1.1}}, nil, 1},
		"more than the noise of four runs":     {slices.Repeat([][]float64{{1.2, 1, 1, 1, 0.9, 1.1, 0.9, 1.1}}, 4), nil, 1},
	} {
		var ts []trace
		for run, rates := range tt.rates {
			one := trace{settled: tt.settled != nil && tt.settled[run]}
			for i, rate := range rates {
				l := lap{from: float64(i), to: float64(i + 1)}
				l.seconds[quietTime] = rate
				one.laps = append(one.laps, l)
			}
			ts = append(ts, one)
		}
		if got := new(course).warmUp(ts); got != tt.want {
			t.Errorf("%s: %d laps, want %d", name, got, tt.want)
		}
	}
}
