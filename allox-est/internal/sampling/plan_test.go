package sampling

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
)

// burn is a job whose epochs take a second, give or take the noise.
type burn struct {
	setup, noise float64
	seed         uint64
}

// taken is the run that a step gives of a job with exact times.
func taken(spec *jobspec.Spec, s Step, c burn, told bool) journal.Run {
	rng := rand.New(rand.NewPCG(c.seed, 1))
	noisy := func(x float64) float64 { return max(0, x*(1+c.noise*rng.NormFloat64())) }
	laps := []float64{noisy(c.setup)}
	for range s.Epochs {
		laps = append(laps, noisy(1))
	}
	laps = append(laps, 1)
	r := journal.Run{Job: spec.Hash(s.Device), Device: s.Device, Kind: s.Kind, Epochs: s.Epochs}
	for _, lap := range laps {
		r.Wall += lap
	}
	r.CPU = r.Wall
	if told {
		r.Laps, r.LapCPU = laps, laps
	}
	return r
}

// predict is a forecast: the means of set-up and units, and as half-width the relative
// spread of the units.
func predict(epochs int) func([]journal.Run, string) Forecast {
	return func(samples []journal.Run, _ string) Forecast {
		var units []float64
		once := 0.0
		for _, r := range samples {
			if n := len(r.Laps); n > 2 {
				units = append(units, r.Laps[1:n-1]...)
				once += (r.Laps[0] + r.Laps[n-1]) / float64(len(samples))
			}
		}
		if len(units) == 0 {
			return Forecast{}
		}
		sum := 0.0
		for _, x := range units {
			sum += x
		}
		unit := sum / float64(len(units))
		return Forecast{once + unit*float64(epochs), once, unit, (slices.Max(units) - slices.Min(units)) / slices.Min(units)}
	}
}

// follow takes samples by a plan until it ends, and returns the steps.
func follow(t interface{ Fatalf(string, ...any) }, p Plan, j *journal.Journal, take func(Step) journal.Run) []Step {
	var steps []Step
	for {
		step, ok := p.Next(j)
		if !ok {
			return steps
		}
		if again, _ := p.Next(j); again != step {
			t.Fatalf("asked twice: %v, then %v", step, again)
		}
		steps = append(steps, step)
		if len(steps) > 10_000 {
			t.Fatalf("the plan does not end")
		}
		j.Runs = append(j.Runs, take(step))
	}
}

func testSpec(epochs int, sample jobspec.Sample) *jobspec.Spec {
	s := &jobspec.Spec{Command: []string{"job", "{epochs}", "{hw}"}, Epochs: epochs, Sample: sample}
	if err := s.Check(); err != nil {
		panic(err)
	}
	return s
}

func TestPlan(t *testing.T) {
	quiet := burn{setup: 1}
	noisy := burn{setup: 1, noise: 0.5}
	both := []string{"cpu", "gpu"}
	tests := []struct {
		name    string
		epochs  int
		sample  jobspec.Sample
		devices []string
		burner  burn
		untold  bool
		pairs   bool
		want    map[string][]int // lengths per device, sorted
	}{
		{name: "one sample by default", epochs: 500, devices: both, burner: quiet, want: map[string][]int{"cpu": {10}, "gpu": {10}}},
		{name: "one sample beyond the budget", epochs: 20, devices: both[:1], burner: noisy, want: map[string][]int{"cpu": {5}}},
		{name: "one epoch", epochs: 1, devices: both[:1], burner: quiet, want: map[string][]int{"cpu": {1}}},
		{name: "quiet enough", epochs: 500, sample: jobspec.Sample{Budget: 0.5}, devices: both[:1], burner: quiet, want: map[string][]int{"cpu": {10}}},
		{name: "noise until the budget ends", epochs: 500, sample: jobspec.Sample{Budget: 0.1}, devices: both[:1], burner: noisy, want: map[string][]int{"cpu": {5, 5, 10, 10, 10}}},
		{name: "set-up counts in the budget", epochs: 500, sample: jobspec.Sample{Budget: 0.1}, devices: both[:1], burner: burn{setup: 40, noise: 0.5}, want: map[string][]int{"cpu": {10}}},
		{name: "the job's repeats", epochs: 500, sample: jobspec.Sample{Repeats: 1, Budget: 0.5}, devices: both[:1], burner: noisy, want: map[string][]int{"cpu": {5, 10}}},
		{name: "two lengths for a method that needs them", epochs: 500, pairs: true, devices: both[:1], burner: quiet, want: map[string][]int{"cpu": {5, 10}}},
		{name: "no progress: two pairs at least, the second longer", epochs: 500, devices: both[:1], burner: quiet, untold: true, want: map[string][]int{"cpu": {5, 10, 20, 40}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := testSpec(tt.epochs, tt.sample)
			seed := uint64(0)
			steps := follow(t, Plan{spec, tt.devices, tt.pairs, predict(tt.epochs)}, &journal.Journal{}, func(s Step) journal.Run {
				seed++
				tt.burner.seed = seed
				return taken(spec, s, tt.burner, !tt.untold)
			})
			got := map[string][]int{}
			for _, s := range steps {
				got[s.Device] = append(got[s.Device], s.Epochs)
			}
			for _, lengths := range got {
				slices.Sort(lengths)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanGivesUp(t *testing.T) {
	spec := testSpec(500, jobspec.Sample{})
	steps := follow(t, Plan{spec, []string{"cpu", "gpu"}, false, predict(500)}, &journal.Journal{}, func(s Step) journal.Run {
		r := taken(spec, s, burn{}, true)
		if s.Device == "gpu" {
			r.Error = "no"
		}
		return r
	})
	gpu := 0
	for _, s := range steps {
		if s.Device == "gpu" {
			gpu++
		}
	}
	if gpu != mostFailures || len(steps) != mostFailures+1 {
		t.Errorf("failures on a device: %v", steps)
	}
	// One failure is made up for.
	failed := false
	steps = follow(t, Plan{spec, []string{"cpu"}, false, predict(500)}, &journal.Journal{}, func(s Step) journal.Run {
		r := taken(spec, s, burn{}, true)
		if !failed {
			failed, r.Error = true, "no"
		}
		return r
	})
	if len(steps) != 2 || steps[0] != steps[1] {
		t.Errorf("after one failure: %v", steps)
	}
	// A timeout would come again.
	steps = follow(t, Plan{spec, []string{"cpu"}, false, predict(500)}, &journal.Journal{}, func(s Step) journal.Run {
		r := taken(spec, s, burn{}, true)
		r.Timeout, r.Error = 1, "timed out"
		return r
	})
	if len(steps) != 1 {
		t.Errorf("after a timeout: %v", steps)
	}
}

// Whatever the job: lengths alternate, devices take turns, only the first sample may lie
// beyond the budget, and a plan that is interrupted goes on as if it had not been.
func TestPlanInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epochs := rapid.IntRange(1, 3000).Draw(t, "epochs")
		spec := testSpec(epochs, jobspec.Sample{Budget: rapid.Float64Range(0.001, 0.2).Draw(t, "budget")})
		p := Plan{spec, []string{"cpu", "gpu"}, false, predict(epochs)}
		setup := rapid.Float64Range(0, 50).Draw(t, "set-up")
		take := func(j *journal.Journal) func(Step) journal.Run {
			return func(s Step) journal.Run {
				return taken(spec, s, burn{setup: setup, noise: 0.01 * float64(1+len(s.Device)%2), seed: uint64(len(j.Runs))}, true)
			}
		}
		j := &journal.Journal{}
		steps := follow(t, p, j, take(j))
		short, long := spec.Lengths()
		for _, device := range p.Devices {
			runs := j.Of(spec.Hash(device), journal.Sample)
			for i, r := range runs {
				if want := []int{long, short}[i%2]; r.Epochs != want {
					t.Fatalf("%s: sample %d of %d epochs, want %d", device, i+1, r.Epochs, want)
				}
			}
			_, seconds := spent(runs)
			if total := predict(epochs)(runs, device).Total; len(runs) > 1 && seconds > 1.1*p.budget()*total {
				t.Fatalf("%s: %v s of a job of %v s and a budget of %v", device, seconds, total, p.budget())
			}
		}
		cut := rapid.IntRange(0, len(steps)).Draw(t, "cut")
		resumed := &journal.Journal{Runs: slices.Clone(j.Runs[:cut])}
		if rest := follow(t, p, resumed, take(resumed)); fmt.Sprint(rest) != fmt.Sprint(steps[cut:]) {
			t.Fatalf("resumed after %d: %v, want %v", cut, rest, steps[cut:])
		}
	})
}

// Samples of a job of one epoch, which all have that length, do not do for a longer one.
func TestPlanAfterAShorterJob(t *testing.T) {
	spec := testSpec(90, jobspec.Sample{})
	j := &journal.Journal{}
	for range 4 {
		j.Runs = append(j.Runs, taken(spec, Step{Device: "cpu", Kind: journal.Sample, Epochs: 1}, burn{setup: 1}, false))
	}
	steps := follow(t, Plan{spec, []string{"cpu"}, false, predict(90)}, j, func(s Step) journal.Run { return taken(spec, s, burn{setup: 1}, true) })
	got := []int{}
	for _, s := range steps {
		got = append(got, s.Epochs)
	}
	if !slices.Equal(got, []int{5}) {
		t.Errorf("%v", steps)
	}
}
