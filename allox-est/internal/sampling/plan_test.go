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

// spread is a stop rule: the relative spread of the laps between the first and
// the last.
func spread(samples []journal.Run, _ string) float64 {
	var laps []float64
	for _, r := range samples {
		if len(r.Laps) > 2 {
			laps = append(laps, r.Laps[1:len(r.Laps)-1]...)
		}
	}
	if len(laps) == 0 {
		return 0
	}
	return (slices.Max(laps) - slices.Min(laps)) / slices.Min(laps)
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
		want    map[string][]int // lengths per device, sorted
	}{
		{name: "one pair by default", epochs: 500, devices: both, burner: quiet, want: map[string][]int{"cpu": {5, 10}, "gpu": {5, 10}}},
		{name: "a pair beyond the budget", epochs: 20, devices: both[:1], burner: quiet, want: map[string][]int{"cpu": {2, 5}}},
		{name: "one epoch", epochs: 1, devices: both[:1], burner: quiet, want: map[string][]int{"cpu": {1, 1}}},
		{name: "quiet enough", epochs: 500, sample: jobspec.Sample{Budget: 0.5}, devices: both[:1], burner: quiet, want: map[string][]int{"cpu": {5, 10}}},
		{name: "noise until the budget ends", epochs: 500, sample: jobspec.Sample{Budget: 0.1}, devices: both[:1], burner: noisy, want: map[string][]int{"cpu": {5, 5, 5, 10, 10, 10}}},
		{name: "the job's budget", epochs: 500, sample: jobspec.Sample{Budget: 0.06}, devices: both[:1], burner: noisy, want: map[string][]int{"cpu": {5, 5, 10, 10}}},
		{name: "the job's repeats", epochs: 500, sample: jobspec.Sample{Repeats: 1, Budget: 0.5}, devices: both[:1], burner: noisy, want: map[string][]int{"cpu": {5, 10}}},
		{name: "no laps: two pairs at least, the second longer", epochs: 500, devices: both[:1], burner: quiet, untold: true, want: map[string][]int{"cpu": {5, 10, 20, 40}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := testSpec(tt.epochs, tt.sample)
			seed := uint64(0)
			steps := follow(t, Plan{spec, tt.devices, 1, spread}, &journal.Journal{}, func(s Step) journal.Run {
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
	for _, unavailable := range []bool{false, true} {
		j := &journal.Journal{}
		steps := follow(t, Plan{spec, []string{"cpu", "gpu"}, 1, spread}, j, func(s Step) journal.Run {
			r := taken(spec, s, burn{}, true)
			if s.Device == "gpu" {
				r.Error, r.Unavailable = "no", unavailable
			}
			return r
		})
		gpu := 0
		for _, s := range steps {
			if s.Device == "gpu" {
				gpu++
			}
		}
		want := mostFailures
		if unavailable {
			want = 1
		}
		if gpu != want || len(steps) != want+2 {
			t.Errorf("unavailable %v: %v", unavailable, steps)
		}
	}
	// One failure is made up for.
	failed := false
	steps := follow(t, Plan{spec, []string{"cpu"}, 1, spread}, &journal.Journal{}, func(s Step) journal.Run {
		r := taken(spec, s, burn{}, true)
		if !failed {
			failed, r.Error = true, "no"
		}
		return r
	})
	if len(steps) != 3 || steps[0] != steps[1] {
		t.Errorf("after one failure: %v", steps)
	}
}

// Whatever the job: each pair holds both lengths, devices take turns, only the
// first pair may lie beyond the budget, and a plan that is interrupted goes on
// as if it had not been.
func TestPlanInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := testSpec(rapid.IntRange(1, 3000).Draw(t, "epochs"), jobspec.Sample{Budget: rapid.Float64Range(0.001, 0.2).Draw(t, "budget")})
		p := Plan{spec, []string{"cpu", "gpu"}, rapid.Uint64().Draw(t, "seed"), spread}
		take := func(j *journal.Journal) func(Step) journal.Run {
			return func(s Step) journal.Run {
				return taken(spec, s, burn{setup: 1, noise: 0.4, seed: uint64(len(j.Runs))}, true)
			}
		}
		j := &journal.Journal{}
		steps := follow(t, p, j, take(j))
		short, long := spec.Lengths()
		lengths := map[string][]int{}
		for _, s := range steps {
			lengths[s.Device] = append(lengths[s.Device], s.Epochs)
			if d := len(lengths["cpu"]) - len(lengths["gpu"]); d < -1 || d > 1 {
				// One device may need fewer samples, but then it was done.
				if len(lengths["cpu"])%2 != 0 && len(lengths["gpu"])%2 != 0 {
					t.Fatalf("devices do not take turns: %v", steps)
				}
			}
		}
		for device, ls := range lengths {
			spent := 0
			for i, n := range ls {
				spent += n
				if i%2 == 1 && n+ls[i-1] != short+long {
					t.Fatalf("%s: a pair of %d and %d", device, ls[i-1], n)
				}
			}
			if len(ls) > 2 && float64(spent) > budget(spec)+1e-6 {
				t.Fatalf("%s: %d epochs of a budget of %v", device, spent, budget(spec))
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
	steps := follow(t, Plan{spec, []string{"cpu"}, 1, spread}, j, func(s Step) journal.Run { return taken(spec, s, burn{setup: 1}, true) })
	got := []int{}
	for _, s := range steps {
		got = append(got, s.Epochs)
	}
	if slices.Sort(got); !slices.Equal(got, []int{2, 5}) {
		t.Errorf("%v", steps)
	}
}
