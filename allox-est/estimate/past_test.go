package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/allox-est/yardstick"
)

// A machine runs at one of two speeds for longer than the samples: with its past
// known the interval holds a job that meets the other speed, and the point is
// drawn to the mean; without it neither.
func TestPast(t *testing.T) {
	const epochs, trials, slow = 100, 300, 1.4
	random := rand.New(rand.NewPCG(1, 1))
	mean := math.Sqrt(slow)
	past := &yardstick.Past{Runs: 40, Seconds: 0.004 * mean, SD: math.Log(slow) / 2}
	speed := func() float64 { return map[bool]float64{true: 1, false: slow}[random.IntN(2) == 0] }
	covered := map[bool]int{}
	off := map[bool]float64{}
	for range trials {
		at, then := speed(), speed()
		truth := then * (0.6 + epochs)
		for _, known := range []bool{false, true} {
			runs := evaluated([]int{4, 10}, func(int) float64 { return 0 })
			for i := range runs {
				r := &runs[i]
				r.YardstickWork, r.Processor = yardstick.Work, "p"
				if known {
					r.Past = past
				}
				r.Wall, r.CPU = r.Wall*at, r.CPU*at
				for k := range r.Laps {
					noise := math.Exp(0.02 * random.NormFloat64())
					r.Laps[k] *= at * noise
					// The sensitivity is learnt from what little the speed changes.
					r.LapYardstick = append(r.LapYardstick, 0.004*at*noise)
				}
				r.Yardstick = r.LapYardstick
				r.LapCPU = r.Laps
				r.LapWait = make([]float64, len(r.Laps))
			}
			e, err := New(runs, Job{Epochs: epochs, Device: "cpu"}, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Wall.Contains(truth) {
				covered[known]++
			}
			off[known] += math.Abs(e.Wall.Value/truth-1) / trials
		}
	}
	t.Logf("covered %.3f and off by %.1f %% with the past, %.3f and %.1f %% without", float64(covered[true])/trials, 100*off[true], float64(covered[false])/trials, 100*off[false])
	if covered[true] < trials*90/100 || covered[false] > trials*70/100 {
		t.Errorf("covered %d of %d with the past, %d without", covered[true], trials, covered[false])
	}
}
