package forecast

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// wave has the given period and relative noise.
func wave(n, period int, noise float64, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, n)
	for i := range out {
		out[i] = (1 + float64(i%period)) * math.Exp(noise*r.NormFloat64())
	}
	return out
}

func TestPeriod(t *testing.T) {
	for _, want := range []int{2, 3, 5} {
		m, err := Fit(wave(60, want, 0.02, 3))
		if err != nil || m.Period != want {
			t.Errorf("period %d, want %d (%v)", m.Period, want, err)
		}
	}
	slope := make([]float64, 40)
	for i := range slope {
		slope[i] = 1 + float64(i)
	}
	if m, err := Fit(slope); err != nil || m.Period != 1 {
		t.Errorf("period %d of a slope (%v)", m.Period, err)
	}
}

func TestExactlyPeriodic(t *testing.T) {
	for _, n := range []int{4, 14, 50} {
		m, err := Fit(wave(n, 2, 0, 1))
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range m.Forecast(100) {
			want := 1 + float64((n+i)%2)
			if !(math.Abs(got-want) <= 1e-6*want) {
				t.Fatalf("%d loads, %d ahead: %v, want %v", n, i+1, got, want)
			}
			answers := m.answers(i + 1)
			for k, y := range answers[:experts] {
				if !(math.Abs(math.Exp(y)-want) <= 1e-6*want) {
					t.Fatalf("expert %d of %d loads, %d ahead: %v, want %v", k, n, i+1, math.Exp(y), want)
				}
			}
		}
	}
}

func TestDegenerate(t *testing.T) {
	tests := []struct {
		name    string
		history []float64
		err     error
	}{
		{"none", nil, ErrTooFew}, {"one", []float64{1}, ErrTooFew}, {"zero", []float64{1, 0, 1}, ErrLoad},
		{"NaN", []float64{1, math.NaN()}, ErrLoad}, {"infinite", []float64{1, math.Inf(1)}, ErrLoad}, {"negative", []float64{1, -1}, ErrLoad},
		{"two", []float64{1, 2}, nil}, {"all equal", []float64{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Fit(tt.history)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			if p := m.Predict().Value; !(p > 0) {
				t.Errorf("%v", p)
			}
		})
	}
}

// Whatever the history, the far future stays within what was seen.
func TestNeverExplodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), 2, 60).Draw(t, "history")
		m, err := Fit(history)
		if err != nil {
			t.Fatal(err)
		}
		future := m.Forecast(300)
		for i := range 300 {
			answers := m.answers(i + 1)
			for _, y := range answers[:experts] {
				if !math.IsNaN(y) {
					future = append(future, math.Exp(y))
				}
			}
		}
		low, high := math.Inf(1), 0.0
		for _, x := range history {
			low, high = math.Min(low, x), math.Max(high, x)
		}
		for _, x := range future {
			if !(x >= low*(1-1e-9)) || !(x <= high*(1+1e-9)) {
				t.Fatalf("%v after loads from %v to %v", x, low, high)
			}
		}
	})
}

// One step ahead, on loads that grow, step, repeat themselves or only scatter,
// the mixture is at most a tenth worse than the last load; a step may cost it as
// much as two loads that miss by the whole step, until the weights have followed.
func TestNeverFarBehindTheLastLoad(t *testing.T) {
	step := map[string]float64{"step": 0.5, "step down": 2}
	var r *rand.Rand
	noise := func() float64 { return math.Exp(0.02 * r.NormFloat64()) }
	for name, load := range map[string]func(i int) float64{
		"growth of 2 %":   func(i int) float64 { return math.Pow(1.02, float64(i)) * noise() },
		"exact growth":    func(i int) float64 { return math.Pow(1.02, float64(i)) },
		"step":            func(i int) float64 { return map[bool]float64{false: 1, true: 2}[i >= 60] * noise() },
		"step down":       func(i int) float64 { return map[bool]float64{false: 3, true: 1}[i >= 70] * noise() },
		"periodic":        func(i int) float64 { return []float64{1, 2, 1.5}[i%3] * noise() },
		"noise":           func(int) float64 { return math.Exp(0.2 * r.NormFloat64()) },
		"periodic growth": func(i int) float64 { return []float64{1, 2}[i%2] * math.Pow(1.01, float64(i)) * noise() },
	} {
		for draw := range 40 {
			r = rand.New(rand.NewPCG(2, uint64(draw)))
			fitted := []int{14, 50}[draw%2]
			series := make([]float64, 120)
			for i := range series {
				series[i] = load(i)
			}
			m, err := Fit(series[:fitted])
			if err != nil {
				t.Fatal(err)
			}
			ours, last := 0.0, 0.0
			for i := fitted; i < len(series); i++ {
				ours += math.Abs(m.Predict().Value-series[i]) / series[i]
				if err := m.Observe(series[i]); err != nil {
					t.Fatal(err)
				}
				last += math.Abs(series[i-1]-series[i]) / series[i]
			}
			if n := float64(len(series) - fitted); ours > 1.1*last+2*step[name]+1e-9 {
				t.Errorf("%s after %d loads: %.2f %%, the last load %.2f %%", name, fitted, 100*ours/n, 100*last/n)
			}
		}
	}
}

// TestSeasonal wants the median of the loads whole periods ago, however far ahead.
func TestSeasonal(t *testing.T) {
	m := Model{Period: 2, logs: []float64{0, 5, 1, 6, 4, 9}}
	for i, want := range []float64{1, 6, 1, 6} {
		if got := m.answer(seasonal, i+1); got != want {
			t.Errorf("%d ahead: %v, want %v", i+1, got, want)
		}
	}
}
