package estimate

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foretime/foretime/allox-est/yardstick"
)

// A machine runs at one of two speeds for longer than the samples: with its past
// known the interval holds a job that meets the other speed, and the point is
// drawn to the mean; of a virtual machine the interval holds it too, and the report
// says why it is wide; without either neither.
func TestPast(t *testing.T) {
	const epochs, trials, slow = 100, 300, 1.4
	random := rand.New(rand.NewPCG(1, 1))
	mean := math.Sqrt(slow)
	past := &yardstick.Past{Runs: 40, Seconds: 0.004 * mean, SD: math.Log(slow) / 2}
	speed := func() float64 { return map[bool]float64{true: 1, false: slow}[random.IntN(2) == 0] }
	const unknown, virtual, known = "unknown", "virtual", "known"
	covered, warned := map[string]int{}, map[string]int{}
	off, reference := map[string]float64{}, map[string]float64{}
	for range trials {
		at, then := speed(), speed()
		truth := then * (0.6 + epochs)
		for _, host := range []string{unknown, virtual, known} {
			runs := evaluated([]int{4, 10}, func(int) float64 { return 0 })
			for i := range runs {
				r := &runs[i]
				r.YardstickWork, r.Processor = yardstick.Work, "p"
				r.Virtual = host == virtual
				if host == known {
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
				covered[host]++
			}
			if slices.ContainsFunc(e.Warnings, func(w error) bool { return errors.Is(w, ErrVirtual) }) {
				warned[host]++
			}
			if e.Reference != nil {
				reference[host] += e.Reference.CPU.Width() / trials
			}
			off[host] += math.Abs(e.Wall.Value/truth-1) / trials
		}
	}
	t.Logf("of %d: covered %v, off by %v, warned %v", trials, covered, off, warned)
	if covered[known] < trials*90/100 || covered[virtual] < trials*90/100 || covered[unknown] > trials*70/100 {
		t.Errorf("of %d are covered: %v", trials, covered)
	}
	if reference[virtual] <= reference[unknown] {
		t.Errorf("widths at reference speed: %v", reference)
	}
	if warned[virtual] != trials || warned[known]+warned[unknown] != 0 {
		t.Errorf("of %d are warned of: %v", trials, warned)
	}
}
