package neural

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// friedman returns samples of Friedman's function, 10 sin(πx₀x₁) + 20(x₂-½)² + 10x₃
// + 5x₄ ("Multivariate Adaptive Regression Splines", Annals of Statistics 19, 1991,
// section 4.3), which no line fits, with normal noise of deviation 1.
func friedman(rows int, seed uint64) regression.Samples {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := regression.Samples{Features: 5}
	for range rows {
		x := make([]float64, 5)
		for j := range x {
			x[j] = rng.Float64()
		}
		y := 10*math.Sin(math.Pi*x[0]*x[1]) + 20*(x[2]-0.5)*(x[2]-0.5) + 10*x[3] + 5*x[4]
		s.X, s.Y = append(s.X, x...), append(s.Y, y+rng.NormFloat64())
	}
	return s
}

// small is a network that trains quickly, also under the race detector.
var small = Mixture{Experts: 2, Hidden: 8, Gate: 4, Training: Training{Epochs: 3, Batch: 8, Seed: 1}}

// trained trains a network. It skips the test under the race detector, whose
// checkptr ends the process at gomlx's pointer arithmetic.
func trained(t *testing.T, m Mixture, s regression.Samples) *Network {
	t.Helper()
	needsPointers(t)
	n, err := m.Fit(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const noCheckptr = "-gcflags=github.com/gomlx/compute/...=-d=checkptr=0"

func needsPointers(t *testing.T) {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	raced, allowed := false, false
	for _, s := range info.Settings {
		raced = raced || s.Key == "-race" && s.Value == "true"
		allowed = allowed || s.Key == "-gcflags" && strings.Contains(s.Value, "checkptr=0")
	}
	if raced && !allowed {
		t.Skip("needs, in addition to -race, " + noCheckptr)
	}
}

func TestSameSeedSameNetwork(t *testing.T) {
	s := friedman(60, 1)
	save := func(m Mixture) string {
		var b bytes.Buffer
		if err := trained(t, m, s).Save(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first := save(small)
	if save(small) != first {
		t.Error("the same seed gave another network")
	}
	one := runtime.GOMAXPROCS(1)
	if save(small) != first {
		t.Error("on one thread it is another network")
	}
	runtime.GOMAXPROCS(one)
	other := small
	other.Training.Seed = 2
	if save(other) == first {
		t.Error("two seeds gave the same network")
	}
	zero := small
	zero.Training.Seed = 0
	if again := save(zero); again != save(zero) {
		t.Error("seed 0 is not reproducible")
	}
}

func TestStoredNetwork(t *testing.T) {
	s := friedman(40, 1)
	n := trained(t, small, s)
	var file bytes.Buffer
	if err := n.Save(&file); err != nil {
		t.Fatal(err)
	}
	saved := file.String()
	back, err := Load(&file)
	if err != nil {
		t.Fatal(err)
	}
	if back.Report() != n.Report() || back.Features() != 5 {
		t.Errorf("report %+v, want %+v", back.Report(), n.Report())
	}
	var again bytes.Buffer
	if err := back.Save(&again); err != nil || again.String() != saved {
		t.Errorf("saved again it differs: %v", err)
	}
	want, _ := n.PredictAll(s)
	got, err := back.PredictAll(s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("row %d: %v, then %v", i, want[i], got[i])
		}
	}

	for name, bad := range map[string]string{
		"nothing":            "",
		"torn":               saved[:len(saved)/2],
		"another file":       `{"format":"x"}`,
		"other architecture": strings.Replace(saved, `"kind":"mixture"`, `"kind":"oracle"`, 1),
		"other width":        strings.Replace(saved, `"features":5`, `"features":4`, 1),
		"other shape":        strings.Replace(saved, `"dims":[5,8]`, `"dims":[5,9]`, 1),
		"other layers":       strings.Replace(saved, `"hidden":8`, `"hidden":9`, 1),
		"no experts":         strings.Replace(saved, `"experts":2`, `"experts":0`, 1),
		"a missing expert":   strings.Replace(saved, `"experts":2`, `"experts":3`, 1),
	} {
		if _, err := Load(strings.NewReader(bad)); !errors.Is(err, ErrFormat) {
			t.Errorf("load %s: %v", name, err)
		}
	}
}

func TestTrainErrors(t *testing.T) {
	good := friedman(40, 1)
	with := func(change func(*regression.Samples)) regression.Samples {
		s := good.Select([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
		change(&s)
		return s
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		m    Mixture
		s    regression.Samples
		want error
	}{
		"no sample":     {context.Background(), small, regression.Samples{Features: 5}, regression.ErrTooFew},
		"nine samples":  {context.Background(), small, good.Select([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}), regression.ErrTooFew},
		"no features":   {context.Background(), small, regression.Samples{Y: make([]float64, 20)}, regression.ErrDimension},
		"NaN":           {context.Background(), small, with(func(s *regression.Samples) { s.X[7] = math.NaN() }), regression.ErrNotFinite},
		"weights":       {context.Background(), small, with(func(s *regression.Samples) { s.Weights = make([]float64, s.Len()) }), regression.ErrSetting},
		"units":         {context.Background(), Mixture{Hidden: -1}, good, regression.ErrSetting},
		"epochs":        {context.Background(), Mixture{Training: Training{Epochs: -1}}, good, regression.ErrSetting},
		"batch":         {context.Background(), Mixture{Training: Training{Batch: -1}}, good, regression.ErrSetting},
		"patience":      {context.Background(), Mixture{Training: Training{Patience: -1}}, good, regression.ErrSetting},
		"learning rate": {context.Background(), Mixture{Training: Training{LearningRate: math.NaN()}}, good, regression.ErrSetting},
		"held out":      {context.Background(), Mixture{Training: Training{HeldOut: 1}}, good, regression.ErrSetting},
		"cancelled":     {cancelled, small, good, context.Canceled},
	} {
		m, err := c.m.Fit(c.ctx, c.s)
		if !errors.Is(err, c.want) || m != nil {
			t.Errorf("%s: %v, %v, want %v", name, m, err, c.want)
		}
	}
}

func TestPredictErrors(t *testing.T) {
	n := trained(t, small, friedman(40, 1))
	if _, err := n.Predict([]float64{1, 2}); !errors.Is(err, regression.ErrDimension) {
		t.Errorf("narrow row: %v", err)
	}
	if _, err := n.Predict([]float64{1, 2, math.NaN(), 4, 5}); !errors.Is(err, regression.ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
	if _, err := n.PredictAll(regression.Samples{Features: 1, X: []float64{1}, Y: []float64{1}}); !errors.Is(err, regression.ErrDimension) {
		t.Errorf("narrow samples: %v", err)
	}
	if v, err := n.PredictAll(regression.Samples{Features: 5}); err != nil || len(v) != 0 {
		t.Errorf("no rows: %v, %v", v, err)
	}
}

// TestConstants trains on ten samples with a constant feature and a constant
// target.
func TestConstants(t *testing.T) {
	s := regression.Samples{Features: 2}
	for i := range 10 {
		s.X, s.Y = append(s.X, float64(i), 7), append(s.Y, 3)
	}
	m := small
	m.Training.Epochs, m.Training.Patience = 1, 1
	n := trained(t, m, s)
	if w := n.Warnings(); len(w) != 2 || !errors.Is(w[0], regression.ErrConstant) || !strings.Contains(w[0].Error(), "column 1 ") || !errors.Is(w[1], ErrStillImproving) {
		t.Errorf("warnings %v", w)
	}
	if p, err := n.Predict(s.Row(0)); err != nil || math.IsNaN(p.Value) {
		t.Errorf("prediction %v, %v", p, err)
	}
	if r := n.Report(); r.Rows != 8 || r.HeldOutRows != 2 || r.Epochs != 1 || r.BestEpoch != 1 {
		t.Errorf("report %+v", r)
	}
}

// TestStopsEarly trains on noise: training stops when patience ends, and keeps the
// best epoch.
func TestStopsEarly(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	s := regression.Samples{Features: 2}
	for range 40 {
		s.X, s.Y = append(s.X, rng.NormFloat64(), rng.NormFloat64()), append(s.Y, rng.NormFloat64())
	}
	var progress []float64
	m := Mixture{Experts: 2, Hidden: 8, Training: Training{
		Epochs: 200, Batch: 8, Patience: 3, Seed: 1, LearningRate: 0.02,
		Progress: func(epochs int, rmse float64) {
			progress = append(progress, rmse)
			if epochs != len(progress) {
				t.Errorf("epoch %d at call %d", epochs, len(progress))
			}
		},
	}}
	n := trained(t, m, s)
	r := n.Report()
	if r.Epochs != r.BestEpoch+3 || r.Epochs != len(progress) || r.HeldOutRMSE != progress[r.BestEpoch-1] {
		t.Errorf("report %+v, progress %v", r, progress)
	}
	for _, rmse := range progress {
		if rmse < r.HeldOutRMSE {
			t.Errorf("an epoch had %v, the one kept %v", rmse, r.HeldOutRMSE)
		}
	}
	// The weights kept are those of the best epoch: training for as many epochs
	// gives them again.
	m.Training.Epochs, m.Training.Progress = r.BestEpoch, nil
	again := trained(t, m, s)
	a, _ := n.Predict(s.Row(0))
	b, _ := again.Predict(s.Row(0))
	if a != b {
		t.Errorf("weights kept predict %v, those of the best epoch %v", a, b)
	}
}

// TestCancel checks that training stops within one step.
func TestCancel(t *testing.T) {
	needsPointers(t)
	ctx, cancel := context.WithCancel(context.Background())
	epochs := 0
	m := small
	m.Training.Epochs = 1000
	m.Training.Progress = func(int, float64) { epochs++; cancel() }
	if n, err := m.Fit(ctx, friedman(40, 1)); !errors.Is(err, context.Canceled) || n != nil || epochs != 1 {
		t.Errorf("%v, %v after %d epochs", n, err, epochs)
	}
}

func TestManyAsk(t *testing.T) {
	s := friedman(40, 1)
	n := trained(t, small, s)
	want, err := n.PredictAll(s)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 10 {
				p, err := n.Predict(s.Row(i))
				if err != nil || !(math.Abs(p.Value-want[i]) <= 1e-4) {
					t.Errorf("row %d: %v %v, want %v", i, p, err, want[i])
				}
			}
		})
	}
	wait.Wait()
}

func TestScaling(t *testing.T) {
	s := regression.Samples{Features: 2, X: []float64{1, 7, 3, 7, 100, 7, 8, 7}, Y: []float64{10, 20, 1e9, 60}}
	sc, warnings := newScaling(s, []int{0, 1, 3}) // by hand: mean 4, variance 26/3; 30, 1400/3
	if len(warnings) != 1 || sc.Center[0] != 4 || !(math.Abs(sc.Scale[0]-math.Sqrt(26.0/3)) <= 1e-12) || sc.Center[1] != 7 || sc.Scale[1] != 1 {
		t.Errorf("%+v, %v", sc, warnings)
	}
	if sc.TargetCenter != 30 || !(math.Abs(sc.TargetScale-math.Sqrt(1400.0/3)) <= 1e-12) {
		t.Errorf("target %v ± %v", sc.TargetCenter, sc.TargetScale)
	}
	if back := sc.value(sc.target(45)); !(math.Abs(back-45) <= 1e-5) {
		t.Errorf("there and back: %v", back)
	}
}

func TestGuard(t *testing.T) {
	for _, value := range []any{"text", errors.New("error"), 7} {
		if err := guard("build", func() error { panic(value) }); err == nil || !strings.HasPrefix(err.Error(), "build: ") {
			t.Errorf("panic(%v) became %v", value, err)
		}
	}
	if err := guard("build", func() error { return context.Canceled }); err != context.Canceled {
		t.Errorf("cancellation became %v", err)
	}
}
