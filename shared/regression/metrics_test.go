package regression

import (
	"errors"
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

// The reference numbers come from scikit-learn 1.9.1, numpy 2.4.6 and scipy 1.17.1:
// mean_absolute_error, root_mean_squared_error, mean_absolute_percentage_error,
// r2_score.
func TestEvaluate(t *testing.T) {
	actual := []float64{3, -0.5, 2, 7, 4, 4.2, 10}
	predicted := []float64{2.5, 0, 2, 8, 4.1, 4.2, 9.2}
	m, err := Evaluate(actual, predicted)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "MAE", m.MAE, 0.4142857142857143, 1e-15)
	near(t, "RMSE", m.RMSE, 0.5542047068934522, 1e-15)
	near(t, "MAPE", m.MAPE, 0.2020748299319728, 1e-15)
	near(t, "R2", m.R2, 0.9692317128020608, 1e-15)
	near(t, "Spearman", m.Spearman, 1, 1e-15)
	near(t, "Within5", m.Within5, 3.0/7, 1e-15)
	near(t, "Within10", m.Within10, 4.0/7, 1e-15)
	edge, err := Evaluate([]float64{20, 10, 10}, []float64{21, 11, 11.5}) // ratios 0.05, 0.10, 0.15
	if err != nil || edge.Within5 != 1.0/3 || edge.Within10 != 2.0/3 {
		t.Errorf("ratios on the limit: %+v, %v", edge, err)
	}
}

func TestEvaluateUndefined(t *testing.T) {
	for _, c := range []struct {
		name              string
		actual, predicted []float64
		mape, r2, rho     float64 // NaN: undefined
	}{
		{"one pair", []float64{4}, []float64{5}, 0.25, math.NaN(), math.NaN()},
		{"one actual of zero", []float64{0, 4, 8}, []float64{1, 5, 8}, 0.125, 1 - 2.0/32, 1},
		{"all actual values zero", []float64{0, 0}, []float64{1, 2}, math.NaN(), math.NaN(), math.NaN()},
		{"actual constant", []float64{3, 3}, []float64{3, 3}, 0, math.NaN(), math.NaN()},
	} {
		m, err := Evaluate(c.actual, c.predicted)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !same(m.MAPE, c.mape) || !same(m.R2, c.r2) || !same(m.Spearman, c.rho) || math.IsNaN(m.Within10) != math.IsNaN(c.mape) {
			t.Errorf("%s: got %+v", c.name, m)
		}
	}
}

func TestPairErrors(t *testing.T) {
	for _, c := range []struct {
		name              string
		actual, predicted []float64
		want              error
	}{
		{"nothing", nil, nil, ErrTooFew},
		{"lengths", []float64{1, 2}, []float64{1}, ErrDimension},
		{"NaN actual", []float64{1, math.NaN()}, []float64{1, 2}, ErrNotFinite},
		{"infinite prediction", []float64{1, 2}, []float64{math.Inf(1), 2}, ErrNotFinite},
	} {
		_, evaluate := Evaluate(c.actual, c.predicted)
		_, spearman := Spearman(c.actual, c.predicted)
		for _, err := range []error{evaluate, spearman} {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, err, c.want)
			}
		}
	}
}

// The first reference is scipy 1.17.1 spearmanr with ties on both sides.
func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{
			[]float64{106, 86, 100, 101, 99, 103, 97, 113, 112, 110, 100, 86},
			[]float64{7, 0, 27, 50, 28, 29, 20, 12, 6, 17, 27, 7}, -0.0017605633802816897,
		},
		{[]float64{1, 2, 3}, []float64{1, 10, 100}, 1},
		{[]float64{1, 2, 3}, []float64{3, 2, 1}, -1},
	} {
		got, err := Spearman(c.a, c.b)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "Spearman", got, c.want, 1e-12)
	}
}
