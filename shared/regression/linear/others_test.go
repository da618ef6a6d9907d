package linear

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foretime/foretime/shared/regression"
	"pgregory.net/rapid"
)

// Reference: scikit-learn 1.9.1, Ridge(alpha, solver="svd"), for Scaled on
// StandardScaler's output and brought back to the features' units.
func TestRidge(t *testing.T) {
	for _, c := range []struct {
		name string
		s    regression.Samples
		r    Ridge
		want []float64
	}{
		{"alpha 0.5", stackloss, Ridge{Penalty: 0.5}, []float64{-39.9016551804638, 0.7172043150311064, 1.2882375308245981, -0.1517035006291563}},
		{"alpha 1000", stackloss, Ridge{Penalty: 1000}, []float64{-29.300757498923417, 0.5856847692220334, 0.23984867778381636, 0.07385704805540882}},
		{"alpha 10, weights 1..21", weighted(stackloss, func(i int) float64 { return float64(i + 1) }), Ridge{Penalty: 10}, []float64{-36.20554475554858, 0.493275633821036, 1.2654633624518423, -0.04545666065039866}},
		{"alpha 2, scaled", stackloss, Ridge{Penalty: 2, Scaled: true}, []float64{-41.75572922479286, 0.6266080656169704, 1.3200661741160373, -0.07455002024320626}},
		{"alpha 10, no intercept", stackloss, Ridge{Penalty: 10, NoIntercept: true}, []float64{0, 0.8146540819379452, 1.0073585730324992, -0.6120561889074276}},
	} {
		m, err := c.r.Solve(c.s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		closeAll(t, c.name, m, c.want, 1e-11)
	}
	// Twice the same feature: the effect is shared evenly.
	m, err := Ridge{Penalty: 1e-6}.Solve(table([][]float64{{1, 1, 2}, {2, 2, 4}, {5, 5, 10}}))
	if err != nil {
		t.Fatal(err)
	}
	close(t, "first of two", m.Coefficients[0], 1, 1e-5)
	close(t, "second of two", m.Coefficients[1], 1, 1e-5)
	if p, _ := m.Predict([]float64{1, 1}); p.Bounded() {
		t.Errorf("ridge claims an interval: %+v", p)
	}
}

// Reference: scipy 1.17.1, scipy.optimize.nnls(A, y), the column of ones where
// there is an intercept.
func TestNNLS(t *testing.T) {
	negative := stackloss
	negative.Y = make([]float64, stackloss.Len())
	for i, y := range stackloss.Y {
		negative.Y[i] = -y
	}
	scaling := regression.Samples{Features: 3, Y: []float64{101, 56, 34, 25, 24, 195}}
	for _, n := range []float64{2, 4, 8, 16, 32, 1} {
		scaling.X = append(scaling.X, 1/n, math.Log(n), n)
	}
	for _, c := range []struct {
		name string
		s    regression.Samples
		n    NNLS
		want []float64
	}{
		{"stackloss", stackloss, NNLS{}, []float64{0, 0.28580571, 0.05715152, 0}},
		{"stackloss, no intercept", stackloss, NNLS{NoIntercept: true}, []float64{0, 0.28580571, 0.05715152, 0}},
		{"only negative targets", negative, NNLS{}, []float64{0, 0, 0, 0}},
		{"time over machines, terms 1, 1/n, log n, n", scaling, NNLS{}, []float64{4.49011997, 190.20465773, 1.95888868, 0.2099506}},
	} {
		m, err := c.n.Solve(c.s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		closeAll(t, c.name, m, c.want, 5e-7) // scipy prints 8 decimals
	}
}

// At the minimum of |Ax-y| over x ≥ 0 the gradient is zero where x > 0 and not
// below zero elsewhere (Karush, Kuhn, Tucker), and nothing else is a minimum.
func TestNNLSIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 6).Draw(t, "features")
		rows := rapid.IntRange(width+1, 20).Draw(t, "rows")
		number := rapid.Map(rapid.IntRange(-8, 8), func(i int) float64 { return float64(i) })
		s := regression.Samples{
			Features: width,
			X:        rapid.SliceOfN(number, rows*width, rows*width).Draw(t, "x"),
			Y:        rapid.SliceOfN(number, rows, rows).Draw(t, "y"),
		}
		m, err := NNLS{}.Solve(s)
		if err != nil {
			if !errors.Is(err, regression.ErrConstant) {
				t.Fatal(err)
			}
			return
		}
		all := withOnes(s, false)
		x := append(slices.Clone(m.Coefficients), m.Intercept)
		gradient := make([]float64, len(x))
		for i, y := range s.Y {
			r := -y
			for j, v := range all.Row(i) {
				r += v * x[j]
			}
			for j, v := range all.Row(i) {
				gradient[j] += v * r
			}
		}
		for j, g := range gradient {
			if x[j] < 0 || g < -1e-7 || x[j] > 0 && math.Abs(g) > 1e-7 {
				t.Fatalf("coefficient %d is %v, its gradient %v", j, x[j], g)
			}
		}
	})
}

// Reference: R 4.2.2, MASS 7.3-58, rlm(..., maxit=1000, acc=1e-13).
func TestHuber(t *testing.T) {
	for _, c := range []struct {
		name string
		s    regression.Samples
		h    Huber
		want []float64
	}{
		{"rlm(stack.loss ~ ., stackloss)", stackloss, Huber{}, []float64{-41.02648537329497458, 0.82938577025384941, 0.92605941554863269, -0.12784631796541857}},
		{"rlm(dist ~ speed, cars)", cars, Huber{}, []float64{-16.526347643285213, 3.7733126797965459}},
		{"rlm(dist ~ speed, cars, weights=1/speed)", weighted(cars, func(i int) float64 { return 1 / cars.X[i] }), Huber{}, []float64{-12.3321018374624636, 3.5243503224341537}},
		{"rlm(dist ~ 0+speed, cars, k=1)", cars, Huber{NoIntercept: true, K: 1}, []float64{0, 2.7238101090278097}},
	} {
		m, err := c.h.Solve(c.s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		closeAll(t, c.name, m, c.want, 1e-8)
		if len(m.Warnings()) != 0 {
			t.Errorf("%s: %v", c.name, m.Warnings())
		}
	}
	m, err := Huber{Rounds: 1}.Solve(stackloss)
	if err != nil || len(m.Warnings()) != 1 {
		t.Errorf("one round: %v, warnings %v", err, m.Warnings())
	}
}

// Eight of ten samples lie on y = 3 + 2x; that line is the answer.
func TestRobustLines(t *testing.T) {
	s := regression.Samples{Features: 1}
	for i := range 10 {
		x := float64(i)
		y := 3 + 2*x
		if i%5 == 3 {
			y += 500
		}
		s.X, s.Y = append(s.X, x), append(s.Y, y)
	}
	for name, f := range map[string]solver{"huber": Huber{}, "theil-sen": TheilSen{}} {
		m, err := f.Solve(s)
		if err != nil {
			t.Fatal(err)
		}
		closeAll(t, name, m, []float64{3, 2}, 1e-6)
	}
	m, _ := OLS{}.Solve(s)
	if math.Abs(m.Intercept-3) < 10 {
		t.Errorf("the outliers do not bend least squares (intercept %v): they prove nothing", m.Intercept)
	}
}

// Reference: scipy 1.17.1, scipy.stats.theilslopes(dist, speed, 0.95 and 0.9,
// method="joint").
func TestTheilSen(t *testing.T) {
	m, err := TheilSen{}.Solve(cars)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, "cars", m, []float64{-15.666666666666664, 3.6666666666666665}, 1e-14)
	for level, want := range map[float64]regression.Prediction{
		0.95: {Value: 3.6666666666666665, Low: 2.933333333333333, High: 4.5},
		0.9:  {Value: 3.6666666666666665, Low: 3, High: 4.285714285714286},
	} {
		got, err := TheilSen{}.Slope(cars, level)
		if err != nil {
			t.Fatal(err)
		}
		close(t, "slope", got.Value, want.Value, 1e-14)
		close(t, "low", got.Low, want.Low, 1e-14)
		close(t, "high", got.High, want.High, 1e-14)
	}
	if _, err := (TheilSen{}).Slope(cars, 1); !errors.Is(err, regression.ErrSetting) {
		t.Errorf("level 1: %v", err)
	}
}

// Of 2,000 samples, 20,000 random pairs find the slope as all pairs do, and the
// interval keeps its width.
func TestTheilSenDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	s := regression.Samples{Features: 1}
	for range 2000 {
		x := rng.Float64()
		s.X, s.Y = append(s.X, x), append(s.Y, 1+2*x+0.1*rng.NormFloat64())
	}
	all, err := TheilSen{}.Slope(s, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	some, err := TheilSen{MaxPairs: 20_000, Seed: 1}.Slope(s, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	close(t, "slope", some.Value, all.Value, 0.01)
	close(t, "width", some.High-some.Low, all.High-all.Low, 0.25)
	if again, _ := (TheilSen{MaxPairs: 20_000, Seed: 1}).Slope(s, 0.95); again != some {
		t.Error("the same seed gave another slope")
	}
}
