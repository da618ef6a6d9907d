package estimate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

const work = "test"

// beside gives a run a yardstick that took y of its reference of 1 in each lap,
// and the processor times of a job that follows it with a power.
func beside(r journal.Run, power float64, y func(lap int) float64) journal.Run {
	r.YardstickWork, r.LapYardstick, r.Yardstick = work, nil, nil
	r.CPU, r.Wall = 0, 0
	for i := range r.Laps {
		f := math.Pow(y(i), power)
		r.Laps[i] *= f
		r.LapCPU[i] *= f
		r.Wall += r.Laps[i]
		r.CPU += r.LapCPU[i]
		r.LapYardstick = append(r.LapYardstick, y(i))
		r.Yardstick = append(r.Yardstick, y(i))
	}
	return r
}

func TestSensitivity(t *testing.T) {
	twoSpeeds := func(lap int) float64 { return 1 + 0.8*float64(lap/2%2) }
	steady := func(lap int) float64 { return 1 + 0.001*float64(lap%2) }
	for _, tt := range []struct {
		name      string
		power     float64
		y         func(int) float64
		low, high float64
		useless   bool
	}{
		{"follows", 1, twoSpeeds, 0.95, 1.05, false},
		{"follows in part", 0.6, twoSpeeds, 0.55, 0.65, false},
		{"does not follow", 0, twoSpeeds, 0, 0, true},
		{"goes the other way", -0.5, twoSpeeds, 0, 0, true},
		{"a steady machine tells nothing", 1, steady, 0.45, 0.55, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := burn{Setup: 1, Epoch: 1, Teardown: 1, Noise: 0.01}
			runs := []journal.Run{beside(burned(c, 5), tt.power, tt.y), beside(burned(c, 10), tt.power, tt.y)}
			e, err := New(runs, cpu(500), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if s := e.Reference.Sensitivity; s < tt.low || s > tt.high {
				t.Errorf("sensitivity %v, want %v to %v", s, tt.low, tt.high)
			}
			if warned(e, ErrYardstick) != tt.useless {
				t.Errorf("warnings %v", e.Warnings)
			}
			if tt.useless && e.Reference.CPU != e.CPU {
				t.Errorf("corrected by a useless yardstick: %v, was %v", e.Reference.CPU, e.CPU)
			}
			for i := range runs {
				runs[i].Yardstick, runs[i].LapYardstick, runs[i].YardstickWork = nil, nil, ""
			}
			bare, err := New(runs, cpu(500), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.useless && e.CPU != bare.CPU {
				t.Errorf("a useless yardstick changes %v to %v", bare.CPU, e.CPU)
			}
		})
	}
}

// A whole run at another speed is brought to the reference as the samples are.
func TestCPUOf(t *testing.T) {
	y := func(lap int) float64 { return 1 + float64(lap%2) }
	c := burn{Setup: 1, Epoch: 1, Teardown: 1}
	e, err := New([]journal.Run{beside(burned(c, 5), 1, y), beside(burned(c, 10), 1, y)}, cpu(100), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	full := beside(burned(c, 100), e.Reference.Sensitivity, func(int) float64 { return 1.7 })
	want := 102 * math.Pow(e.Reference.Yardstick, e.Reference.Sensitivity)
	near(t, "at the reference", e.Reference.CPUOf(full), want, 1e-9)
	gap := full
	gap.LapYardstick = make([]float64, len(full.Laps)) // no reading fell into a lap: its run's speed counts
	near(t, "without laps' readings", e.Reference.CPUOf(gap), want, 1e-9)
	gap.Laps, gap.LapCPU, gap.LapYardstick = nil, nil, nil
	near(t, "without laps", e.Reference.CPUOf(gap), want, 1e-9)
	gap.YardstickWork = "other"
	if got := e.Reference.CPUOf(gap); !math.IsNaN(got) {
		t.Errorf("by another yardstick: %v", got)
	}
	if got := (*Reference)(nil).CPUOf(full); !math.IsNaN(got) {
		t.Errorf("by none: %v", got)
	}
}

func TestNoReferenceByTwoYardsticks(t *testing.T) {
	y := func(int) float64 { return 1 }
	c := burn{Setup: 1, Epoch: 1}
	a, b := beside(burned(c, 5), 1, y), beside(burned(c, 10), 1, y)
	b.YardstickWork = "other"
	if e, err := New([]journal.Run{a, b}, cpu(100), Settings{}); err != nil || e.Reference != nil {
		t.Errorf("%+v, %v", e, err)
	}
	b.Yardstick, b.LapYardstick, b.YardstickWork = nil, nil, "" // it was never seen on a processor
	e, err := New([]journal.Run{a, b}, cpu(100), Settings{})
	if err != nil || e.Reference != nil {
		t.Errorf("%+v, %v", e, err)
	}
	b.LapYardstick = a.LapYardstick
	if _, err := New([]journal.Run{a, b}, cpu(100), Settings{}); !errors.Is(err, ErrBadRun) {
		t.Errorf("error %v, want ErrBadRun", err)
	}
}

func TestInertia(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct{ keep, want float64 }{{0, 1}, {0.5, 3}, {0.8, 9}} { // (1+r)/(1-r)
		var sum float64
		for range 100 {
			x, xs := 0.0, []float64(nil)
			for range 1000 {
				x = tt.keep*x + rng.NormFloat64()
				xs = append(xs, x)
			}
			sum += inertia(xs) / 100
		}
		if sum < 0.85*tt.want || sum > 1.25*tt.want {
			t.Errorf("correlation %v: %v readings are worth one, want about %v", tt.keep, sum, tt.want)
		}
	}
	for _, xs := range [][]float64{nil, {1}, {1, 2}, {3, 3, 3, 3, 3, 3}} {
		if got := inertia(xs); got != 1 {
			t.Errorf("%v: %v, want 1", xs, got)
		}
	}
}

// Samples that lie in one long stay at one speed, and show the other one for a
// moment, do not know how the rest of the job will fare.
func TestStays(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	readings := func(lengths ...int) journal.Run {
		var r journal.Run
		for i, n := range lengths { // slow first
			for range n {
				r.Yardstick = append(r.Yardstick, []float64{1.25, 0.75}[i%2]*(1+0.02*rng.NormFloat64()))
			}
		}
		return r
	}
	often := make([]int, 40)
	for i := range often {
		often[i] = 5
	}
	for _, tt := range []struct {
		name            string
		runs            []journal.Run
		sd, within, run float64
	}{
		{"one moment of the other speed", []journal.Run{readings(120), readings(40, 5, 40)}, 0.404 * math.Sqrt(0.12*0.88/6), 0.03, 4},
		{"often", []journal.Run{readings(often...), readings(often...)}, 0.5 * 0.5 / math.Sqrt(82), 0.005, 80},
		{"nothing read", []journal.Run{{}, {}}, 0, 0, 0},
		{"all the same", []journal.Run{{Yardstick: []float64{1, 1, 1, 1, 1, 1, 1, 1}}}, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sd, seen := stays(tt.runs)
			near(t, "standard deviation", sd, tt.sd, tt.within)
			near(t, "stays", seen, tt.run, 0.5)
		})
	}
	one := readings(200)
	if sd, seen := stays([]journal.Run{one}); sd > 0.005 || seen < 20 {
		t.Errorf("noise about one speed: %v after %v stays", sd, seen)
	}
}

// twoSpeeds is a processor whose neighbour comes and goes: while it is there
// the job takes 1.5 times as long and the yardstick 1.8 times.
type twoSpeeds struct {
	rng  *rand.Rand
	slow bool
	left float64 // seconds until it changes
	stay float64 // seconds it stays as it is, on average
}

// run simulates a job of short epochs, alone on its processor.
func (m *twoSpeeds) run(epochs int) journal.Run {
	const step = 0.02
	r := journal.Run{Epochs: epochs, Threads: 1, CPUs: 2, Device: "cpu", YardstickWork: work}
	lap := func(seconds float64) {
		wall, reading, readings := 0.0, 0.0, 0.0
		for need := seconds * (1 + 0.02*m.rng.NormFloat64()); need > 0; {
			if m.left -= step; m.left <= 0 {
				m.slow, m.left = !m.slow, m.stay*m.rng.ExpFloat64()
			}
			job, yard := 1.0, 1e-4
			if m.slow {
				job, yard = 1.5, 1.8e-4
			}
			yard *= 1 + 0.1*math.Abs(m.rng.NormFloat64())
			r.Yardstick = append(r.Yardstick, yard)
			reading, readings = reading+yard, readings+1
			used := min(step, need*job)
			wall, need = wall+used, need-step/job
		}
		r.Laps, r.LapCPU = append(r.Laps, wall), append(r.LapCPU, wall)
		r.LapWait = append(r.LapWait, 0)
		r.LapYardstick = append(r.LapYardstick, reading/max(1, readings))
		r.Wall += wall
		r.CPU += wall
	}
	lap(0.2)
	for range epochs {
		lap(0.12)
	}
	lap(0.6)
	return r
}

// On a processor with a neighbour a pair of samples of a second or two cannot
// know how often the neighbour will be there: while it stays or stays away for
// as long as a sample, the interval cannot know either. At the reference speed
// the estimate is several times as good.
func TestMonteCarloTwoSpeeds(t *testing.T) {
	table := newTable("neighbour stays, s", "CPU MAPE %", "covered %", "median width %", "reference MAPE %", "covered %", "median width %")
	for _, tt := range []struct{ stay, covered, reference, gain float64 }{
		{0.1, 90, 90, 0.5}, {0.5, 75, 80, 0.5}, {2, 40, 50, 0.6},
	} {
		m := twoSpeeds{rng: rand.New(rand.NewPCG(2026, 1)), stay: tt.stay}
		var now, ref fate
		for range *trials / 2 {
			e, err := New([]journal.Run{m.run(5), m.run(2)}, cpu(250), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			truth := m.run(250)
			now.add(e.CPU, truth.CPU)
			ref.add(e.Reference.CPU, e.Reference.CPUOf(truth))
		}
		table.add(fmt.Sprint(tt.stay), mean(now.errors), now.covered(), stats.Median(now.widths), mean(ref.errors), ref.covered(), stats.Median(ref.widths))
		if now.covered() < tt.covered || ref.covered() < tt.reference || mean(ref.errors) > tt.gain*mean(now.errors) {
			t.Errorf("neighbour stays %v s: %.1f and %.1f %% covered, errors %.2f and %.2f %%", tt.stay, now.covered(), ref.covered(), mean(now.errors), mean(ref.errors))
		}
	}
	t.Log(table)
}

// fate is how predictions of one kind fared, in percent.
type fate struct {
	errors, widths []float64
	hits           int
}

func (f *fate) add(p uncertainty.Prediction, truth float64) {
	f.errors = append(f.errors, 100*math.Abs(p.Value/truth-1))
	f.widths = append(f.widths, 100*(p.High-p.Low)/p.Value)
	if p.Contains(truth) {
		f.hits++
	}
}

func (f *fate) covered() float64 { return 100 * float64(f.hits) / float64(len(f.errors)) }
