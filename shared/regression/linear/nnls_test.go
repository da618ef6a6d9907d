package linear

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/regression"
)

// withOnes appends a column of ones, for an intercept.
func withOnes(s regression.Samples) regression.Samples {
	out := regression.Samples{Features: s.Features + 1, Y: s.Y, Weights: s.Weights}
	for i := range s.Len() {
		out.X = append(append(out.X, s.Row(i)...), 1)
	}
	return out
}

// Reference: scipy 1.17.1, scipy.optimize.nnls(A, y); the first number belongs to the column of
// ones, the last one of A.
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
		want []float64
	}{
		{"stackloss", withOnes(stackloss), []float64{0, 0.28580571, 0.05715152, 0}},
		{"only negative targets", withOnes(negative), []float64{0, 0, 0, 0}},
		{"time over machines, terms 1, 1/n, log n, n", withOnes(scaling), []float64{4.49011997, 190.20465773, 1.95888868, 0.2099506}},
	} {
		m, err := NNLS{}.Fit(context.Background(), c.s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m.Intercept, m.Coefficients = m.Coefficients[3], m.Coefficients[:3]
		closeAll(t, c.name, m, c.want, 5e-7) // scipy prints 8 decimals
	}
}

// At the minimum of |Ax-y| over x ≥ 0 the gradient is zero for x > 0 and not below
// zero elsewhere (Karush, Kuhn, Tucker), and nothing else is a minimum.
func TestNNLSIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 6).Draw(t, "features")
		rows := rapid.IntRange(2, 20).Draw(t, "rows")
		number := rapid.Map(rapid.IntRange(-8, 8), func(i int) float64 { return float64(i) })
		s := regression.Samples{
			Features: width,
			X:        rapid.SliceOfN(number, rows*width, rows*width).Draw(t, "x"),
			Y:        rapid.SliceOfN(number, rows, rows).Draw(t, "y"),
		}
		all := withOnes(s)
		m, err := NNLS{}.Fit(context.Background(), all)
		if err != nil {
			t.Fatal(err)
		}
		x := m.Coefficients
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
			if x[j] < 0 || g < -1e-7 || x[j] > 0 && !(math.Abs(g) <= 1e-7) {
				t.Fatalf("coefficient %d is %v, its gradient %v", j, x[j], g)
			}
		}
	})
}
