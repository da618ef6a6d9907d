package estimate

import (
	"errors"
	"math"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// evaluated are runs of a job whose epochs take 1 s, those that its named costs
// fall on as much more as they cost.
func evaluated(lengths []int, cost func(number int) float64) []journal.Run {
	var runs []journal.Run
	for _, n := range lengths {
		r := journal.Run{Job: "j", Name: "j", Kind: journal.Sample, Device: "cpu", Threads: 1, Epochs: n, CPUs: 2}
		r.Laps = append(r.Laps, 0.5)
		for k := 1; k <= n; k++ {
			r.Laps = append(r.Laps, 1+cost(k))
		}
		r.Laps = append(r.Laps, 0.1)
		for _, lap := range r.Laps {
			r.Wall += lap
		}
		r.CPU = r.Wall
		runs = append(runs, r)
	}
	return runs
}

// naming are runs of a noisy job, whose epochs take about 1 s, that tells its
// costs by name.
func naming(lengths []int, costs func(number, length int) map[string]float64) []journal.Run {
	runs := evaluated(lengths, func(number int) float64 { return 0.1 * math.Sin(float64(number*number)) })
	for i := range runs {
		r := &runs[i]
		for k := 1; k <= r.Epochs; k++ {
			for name, seconds := range costs(k, r.Epochs) {
				r.Laps[k] += seconds
				r.Wall += seconds
				r.Costs = append(r.Costs, journal.Cost{Name: name, Lap: k, Seconds: seconds})
			}
		}
		r.CPU = r.Wall
	}
	return runs
}

// Costs that a job tells come in the estimate as often as in the job: with a
// period that two of them show, from the first epoch or
// not, in the last one too, in every one. Where neither is so the interval allows
// for every rate that agrees with what was seen.
func TestTold(t *testing.T) {
	const epochs = 500
	every := func(period, offset int) func(int, int) map[string]float64 {
		return func(k, _ int) map[string]float64 {
			if k%period == offset%period {
				return map[string]float64{"evaluate": 0.5}
			}
			return nil
		}
	}
	for _, tt := range []struct {
		name  string
		costs func(number, length int) map[string]float64
		known bool
	}{
		{"a period", every(4, 0), true},
		{"counting from 0", every(4, 1), true},
		{"every epoch", every(1, 0), true},
		{"seen once", every(8, 0), false},
		{"the last epoch", func(k, n int) map[string]float64 {
			if k == n {
				return map[string]float64{"save": 20}
			}
			return nil
		}, true},
		{"a period and the last epoch", func(k, n int) map[string]float64 {
			c := map[string]float64{}
			if k%3 == 0 || k == n {
				c["evaluate"] = 0.7
			}
			return c
		}, true},
	} {
		runs := naming([]int{5, 10}, tt.costs)
		want := 0.6
		for k := 1; k <= epochs; k++ {
			want++
			for _, seconds := range tt.costs(k, epochs) {
				want += seconds
			}
		}
		e, err := New(runs, Job{Epochs: epochs, Device: "cpu"}, Settings{})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		warned := false
		for _, w := range e.Warnings {
			warned = warned || errors.Is(w, ErrRecurring)
		}
		if !e.Wall.Contains(want) || warned == tt.known || tt.known && math.Abs(e.Wall.Value/want-1) > 0.03 {
			t.Errorf("%s: %+v, want %v; warned %v, costs %+v", tt.name, e.Wall, want, warned, e.Segments.Costs)
		}
	}
}
