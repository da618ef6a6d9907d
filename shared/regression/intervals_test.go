package regression

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCalibrateByHand(t *testing.T) {
	// 19 errors 1..19 about 0: the 0.9 interval takes the ceil(20 × 0.9) = 18th,
	// the 0.95 interval the 19th.
	s := Samples{}
	for i := range 19 {
		s.Y = append(s.Y, float64(1+i)*[]float64{1, -1}[i%2])
	}
	m := meanModel{value: 0}
	for _, c := range []struct{ level, width float64 }{{0.95, 19}, {0.9, 18}, {0.5, 10}, {0.05, 1}} {
		got, err := Calibrate(m, s, c.level, false)
		if err != nil || got.Width != c.width {
			t.Errorf("level %v: %+v, %v, want width %v", c.level, got, err, c.width)
		}
	}
	c, err := Calibrate(meanModel{value: 100}, Samples{Y: []float64{90, 120, 100}}, 0.75, true)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := c.Predict(nil); math.Abs(c.Width-0.2) > 1e-15 || p.Low != 80 || p.High != 120 {
		t.Errorf("relative: %+v, %+v", c, p)
	}
}

func TestCalibrateErrors(t *testing.T) {
	y := func(n int) Samples { return Samples{Y: make([]float64, n)} }
	for _, c := range []struct {
		name     string
		s        Samples
		level    float64
		relative bool
		want     error
	}{
		{"none", y(0), 0.95, false, ErrTooFew},
		{"18 for 0.95", y(18), 0.95, false, ErrTooFew},
		{"19 for 0.95", y(19), 0.95, false, nil},
		{"level 0", y(30), 0, false, ErrSetting},
		{"level 1", y(30), 1, false, ErrSetting},
		{"NaN level", y(30), math.NaN(), false, ErrSetting},
		{"NaN target", Samples{Y: []float64{math.NaN()}}, 0.5, false, ErrNotFinite},
		{"relative to zero", y(30), 0.95, true, ErrUndefined},
		{"width", Samples{Features: 1, X: make([]float64, 30), Y: make([]float64, 30)}, 0.95, false, ErrDimension},
	} {
		_, err := Calibrate(meanModel{value: 0}, c.s, c.level, c.relative)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	var few *TooFewError
	if _, err := Calibrate(meanModel{}, y(3), 0.95, false); !errors.As(err, &few) || few.Need != 19 {
		t.Errorf("need: %v", err)
	}
}

// The promise: coverage of at least the level on average. 400 calibration sets
// of 40 with skewed noise, 20 new targets each. Split-conformal theory puts the
// mean coverage in [0.9, 0.9+1/41]; 8,000 draws leave ± 0.012.
func TestConformalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	covered, asked := 0, 0
	for range 400 {
		s := Samples{}
		for range 40 {
			s.Y = append(s.Y, rng.ExpFloat64())
		}
		c, err := Calibrate(meanModel{value: 1}, s, 0.9, false)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := c.Predict(nil)
		for range 20 {
			asked++
			if p.Covers(rng.ExpFloat64()) {
				covered++
			}
		}
	}
	near(t, "coverage", float64(covered)/float64(asked), 0.9+0.5/41, 0.5/41+0.012)
}

func meanOf(v []float64) (float64, error) { return mean(v), nil }

// The percentile interval of a mean of 200 normal values agrees with the normal
// one, mean ± 1.96 s/√n; 4,000 replicates leave about 3 % of a half-width.
func TestBootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 200)
	for i := range values {
		values[i] = 10 + rng.NormFloat64()
	}
	center := mean(values)
	variance := 0.0
	for _, v := range values {
		variance += (v - center) * (v - center) / 199
	}
	p, err := Bootstrap(values, meanOf, Resampling{Replicates: 4000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	half := 1.96 * math.Sqrt(variance/200)
	near(t, "value", p.Value, center, 0)
	near(t, "low", p.Low, center-half, half*0.08)
	near(t, "high", p.High, center+half, half*0.08)
	if again, _ := Bootstrap(values, meanOf, Resampling{Replicates: 4000, Seed: 1}); again != p {
		t.Error("the same seed gave another interval")
	}
	if same, err := Bootstrap([]float64{4, 4}, meanOf, Resampling{}); err != nil || same != (Prediction{4, 4, 4}) {
		t.Errorf("equal values: %+v, %v", same, err)
	}
}

func TestBootstrapErrors(t *testing.T) {
	refuse := errors.New("refuse")
	bad := func([]float64) (float64, error) { return 0, refuse }
	nan := func([]float64) (float64, error) { return math.NaN(), nil }
	for _, c := range []struct {
		name   string
		values []float64
		stat   func([]float64) (float64, error)
		r      Resampling
		want   error
	}{
		{"none", nil, meanOf, Resampling{}, ErrTooFew},
		{"one", []float64{1}, meanOf, Resampling{}, ErrTooFew},
		{"infinite", []float64{1, math.Inf(1)}, meanOf, Resampling{}, ErrNotFinite},
		{"replicates", []float64{1, 2}, meanOf, Resampling{Replicates: 1}, ErrSetting},
		{"level", []float64{1, 2}, meanOf, Resampling{Level: 1.5}, ErrSetting},
		{"statistic", []float64{1, 2}, bad, Resampling{}, refuse},
		{"NaN statistic", []float64{1, 2}, nan, Resampling{}, ErrNotFinite},
	} {
		if _, err := Bootstrap(c.values, c.stat, c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

// Bagged intervals about a mean of normal noise hold about 90 % of new values;
// 40 sets of 60 values and 200 replicates leave ± 0.05.
func TestBagCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	covered, asked := 0, 0
	for set := range 40 {
		s := Samples{}
		for range 60 {
			s.Y = append(s.Y, rng.NormFloat64())
		}
		m, err := Bag(context.Background(), meanFitter{}, s, Resampling{Replicates: 200, Level: 0.9, Seed: uint64(set)})
		if err != nil {
			t.Fatal(err)
		}
		p, _ := m.Predict(nil)
		for range 100 {
			asked++
			if p.Covers(rng.NormFloat64()) {
				covered++
			}
		}
	}
	near(t, "coverage", float64(covered)/float64(asked), 0.9, 0.05)
}

// picky refuses samples without the row whose feature is 1.
type picky struct{ always bool }

func (f picky) Fit(ctx context.Context, s Samples) (Model, error) {
	if f.always || !slices.Contains(s.X, 1) {
		return nil, &ConstantError{}
	}
	return meanFitter{}.Fit(ctx, s)
}

func TestBagRedraws(t *testing.T) {
	s, _ := NewSamples([][]float64{{0}, {0}, {1}}, []float64{1, 2, 3})
	m, err := Bag(context.Background(), picky{}, s, Resampling{Replicates: 50})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.models) != 50 || m.Features() != 1 || Warnings(m) != nil {
		t.Errorf("%d models", len(m.models))
	}
	if _, err := Bag(context.Background(), picky{always: true}, s, Resampling{}); !errors.Is(err, ErrConstant) {
		t.Errorf("always refused: %v", err)
	}
	if _, err := Bag(context.Background(), meanFitter{}, s.Select([]int{0}), Resampling{}); !errors.Is(err, ErrTooFew) {
		t.Errorf("one sample: %v", err)
	}
	if _, err := m.Predict(nil); !errors.Is(err, ErrDimension) {
		t.Errorf("narrow row: %v", err)
	}
}
