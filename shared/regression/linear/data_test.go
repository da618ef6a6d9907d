package linear

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// longley is the data set of that name in R: GNP.deflator, GNP, Unemployed,
// Armed.Forces, Population, Year and, last, Employed. Its features are so nearly
// dependent that it has tested regression programs since 1967.
var longley = table([][]float64{
	{83, 234.289, 235.6, 159, 107.608, 1947, 60.323},
	{88.5, 259.426, 232.5, 145.6, 108.632, 1948, 61.122},
	{88.2, 258.054, 368.2, 161.6, 109.773, 1949, 60.171},
	{89.5, 284.599, 335.1, 165, 110.929, 1950, 61.187},
	{96.2, 328.975, 209.9, 309.9, 112.075, 1951, 63.221},
	{98.1, 346.999, 193.2, 359.4, 113.27, 1952, 63.639},
	{99, 365.385, 187, 354.7, 115.094, 1953, 64.989},
	{100, 363.112, 357.8, 335, 116.219, 1954, 63.761},
	{101.2, 397.469, 290.4, 304.8, 117.388, 1955, 66.019},
	{104.6, 419.18, 282.2, 285.7, 118.734, 1956, 67.857},
	{108.4, 442.769, 293.6, 279.8, 120.445, 1957, 68.169},
	{110.8, 444.546, 468.1, 263.7, 121.95, 1958, 66.513},
	{112.6, 482.704, 381.3, 255.2, 123.366, 1959, 68.655},
	{114.2, 502.601, 393.1, 251.4, 125.368, 1960, 69.564},
	{115.7, 518.173, 480.6, 257.2, 127.852, 1961, 69.331},
	{116.9, 554.894, 400.7, 282.7, 130.081, 1962, 70.551},
})

// stackloss is the data set of that name in R: Air.Flow, Water.Temp, Acid.Conc.
// and, last, stack.loss.
var stackloss = table([][]float64{
	{80, 27, 89, 42}, {80, 27, 88, 37}, {75, 25, 90, 37}, {62, 24, 87, 28}, {62, 22, 87, 18},
	{62, 23, 87, 18}, {62, 24, 93, 19}, {62, 24, 93, 20}, {58, 23, 87, 15}, {58, 18, 80, 14},
	{58, 18, 89, 14}, {58, 17, 88, 13}, {58, 18, 82, 11}, {58, 19, 93, 12}, {50, 18, 89, 8},
	{50, 18, 86, 7}, {50, 19, 72, 8}, {50, 19, 79, 8}, {50, 20, 80, 9}, {56, 20, 82, 15}, {70, 20, 91, 15},
})

// cars is the data set of that name in R: speed and, last, dist.
var cars = table([][]float64{
	{4, 2}, {4, 10}, {7, 4}, {7, 22}, {8, 16}, {9, 10}, {10, 18}, {10, 26}, {10, 34}, {11, 17},
	{11, 28}, {12, 14}, {12, 20}, {12, 24}, {12, 28}, {13, 26}, {13, 34}, {13, 34}, {13, 46}, {14, 26},
	{14, 36}, {14, 60}, {14, 80}, {15, 20}, {15, 26}, {15, 54}, {16, 32}, {16, 40}, {17, 32}, {17, 40},
	{17, 50}, {18, 42}, {18, 56}, {18, 76}, {18, 84}, {19, 36}, {19, 46}, {19, 68}, {20, 32}, {20, 48},
	{20, 52}, {20, 56}, {20, 64}, {22, 66}, {23, 54}, {24, 70}, {24, 92}, {24, 93}, {24, 120}, {25, 85},
})

// table turns rows whose last number is the target into samples.
func table(rows [][]float64) regression.Samples {
	s := regression.Samples{Features: len(rows[0]) - 1}
	for _, r := range rows {
		s.X, s.Y = append(s.X, r[:s.Features]...), append(s.Y, r[s.Features])
	}
	return s
}

// weighted returns the samples with weight f(i) for row i.
func weighted(s regression.Samples, f func(i int) float64) regression.Samples {
	s.Weights = make([]float64, s.Len())
	for i := range s.Weights {
		s.Weights[i] = f(i)
	}
	return s
}

// checkClose reports a number that differs from want by more than a fraction of it.
func checkClose(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g within %g of it", what, got, want, relative)
	}
}

// closeAll compares the intercept, first, and the coefficients.
func closeAll(t *testing.T, what string, m *Model, want []float64, relative float64) {
	t.Helper()
	got := append([]float64{m.Intercept}, m.Coefficients...)
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		checkClose(t, what, got[i], want[i], relative)
	}
}

type solver = regression.Fitter[*Model]

// TestDegenerateSamples checks that every fitter rejects bad samples with the same
// typed errors.
func TestDegenerateSamples(t *testing.T) {
	nan := math.NaN()
	row := func(x ...float64) []float64 { return x }
	for _, c := range []struct {
		name string
		s    regression.Samples
		want map[string]error // by fitter; "" for all others
	}{
		{"no sample", regression.Samples{Features: 1}, map[string]error{"": regression.ErrTooFew}},
		{"one sample", table([][]float64{row(1, 2)}), map[string]error{"": regression.ErrTooFew, "nnls": nil}},
		{"NaN feature", table([][]float64{row(1, 2), row(nan, 3), row(4, 5)}), map[string]error{"": regression.ErrNotFinite}},
		{"infinite target", table([][]float64{row(1, 2), row(3, math.Inf(1)), row(4, 5)}), map[string]error{"": regression.ErrNotFinite}},
		{"constant feature", table([][]float64{row(1, 2), row(1, 3), row(1, 4)}), map[string]error{"": regression.ErrConstant, "nnls": nil}},
		{"twice the same feature", table([][]float64{row(1, 1, 2), row(2, 2, 3), row(5, 5, 4), row(6, 6, 1)}),
			map[string]error{"": regression.ErrCollinear, "nnls": nil}},
		{"ragged", regression.Samples{Features: 1, X: row(1, 2, 3), Y: row(1, 2)}, map[string]error{"": regression.ErrDimension}},
		{"all weight on one row", weighted(table([][]float64{row(1, 2), row(2, 3), row(3, 9)}), func(i int) float64 { return float64(i / 2) }),
			map[string]error{"": regression.ErrTooFew, "nnls": nil}},
		{"two samples", table([][]float64{row(1, 2), row(3, 6)}), map[string]error{"": nil}},
		{"all targets the same", table([][]float64{row(1, 5), row(3, 5), row(4, 5), row(9, 5)}), map[string]error{"": nil}},
	} {
		for name, f := range map[string]solver{"ols": OLS{}, "nnls": NNLS{}} {
			want, special := c.want[name]
			if !special {
				want = c.want[""]
			}
			m, err := f.Fit(context.Background(), c.s)
			if !errors.Is(err, want) || (err == nil) != (m != nil) {
				t.Errorf("%s, %s: got %v, %v, want error %v", name, c.name, m, err, want)
			}
			if err != nil {
				continue
			}
			p, err := m.Predict(make([]float64, c.s.Features))
			if err != nil || math.IsNaN(p.Value) || math.IsNaN(p.Low) || math.IsNaN(p.High) {
				t.Errorf("%s, %s: predicts %v, %v", name, c.name, p, err)
			}
		}
	}
}

func TestSettings(t *testing.T) {
	for _, f := range []solver{
		OLS{Level: 1}, OLS{Level: -0.5}, OLS{Level: math.NaN()},
	} {
		if _, err := f.Fit(context.Background(), cars); !errors.Is(err, regression.ErrSetting) {
			t.Errorf("%T%+v: %v", f, f, err)
		}
	}
	none := regression.Samples{Y: []float64{1, 2, 3}}
	if _, err := (NNLS{}).Fit(context.Background(), none); !errors.Is(err, regression.ErrDimension) {
		t.Errorf("no features and no intercept: %v", err)
	}
}
