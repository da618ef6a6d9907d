package coveragetest_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/testkit/coveragetest"
	"github.com/foretime/foretime/shared/uncertainty"
)

// normal promises 0.9 of a standard normal value and cuts its two tails at the
// given fractions.
func normal(low, high float64) coveragetest.Predictor {
	return coveragetest.Predictor{Name: "normal", Level: 0.9, Run: func(seed uint64) []uncertainty.Case {
		rng := rand.New(rand.NewPCG(seed, 1))
		cases := make([]uncertainty.Case, 100)
		for i := range cases {
			cases[i].Prediction = uncertainty.Prediction{
				Low: distuv.UnitNormal.Quantile(low), High: distuv.UnitNormal.Quantile(1 - high), Level: 0.9,
			}
			cases[i].Actual = rng.NormFloat64()
		}
		return cases
	}}
}

// TestExamine checks that a tail moved by 5 points is found, at either end and in
// either direction.
func TestExamine(t *testing.T) {
	for _, c := range []struct {
		name      string
		low, high float64
		want      string // part of the error; "" for none
	}{
		{"as promised", 0.05, 0.05, ""},
		{"a point off", 0.055, 0.055, ""},
		{"lower tail 10 %", 0.10, 0.05, "hold 0.8"},
		{"upper tail 10 %", 0.05, 0.10, "hold 0.8"},
		{"lower tail 0", 1e-9, 0.05, "more than the promised"},
		{"upper tail 0", 0.05, 1e-9, "more than the promised"},
		{"moved down", 1e-9, 0.10, "above the interval"},
		{"moved up", 0.10, 1e-9, "below the interval"},
	} {
		r, err := coveragetest.Examine(normal(c.low, c.high))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v, want %q", c.name, r, err, c.want)
		}
	}
}

func TestExamineRefuses(t *testing.T) {
	other := normal(0.05, 0.05)
	other.Level = 0.95
	for want, p := range map[string]coveragetest.Predictor{
		"no cases":      {Level: 0.9, Run: func(uint64) []uncertainty.Case { return nil }},
		"promises 0.9,": other,
		"draw more cases": {Level: 0.5, Run: func(seed uint64) []uncertainty.Case { // one toss per data set
			return []uncertainty.Case{{Prediction: uncertainty.Prediction{Low: 0, High: 1, Level: 0.5}, Actual: float64(2 * (seed % 2))}}
		}},
	} {
		if r, err := coveragetest.Examine(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", want, r, err)
		}
	}
}

func TestCheck(t *testing.T) {
	coveragetest.Check(t, []coveragetest.Predictor{normal(0.05, 0.05)})
}

// TestGlance finds large errors in a few data sets, and accepts small ones.
func TestGlance(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0.05, 0.05, ""}, {0.03, 0.08, ""}, {0.15, 0.15, "hold 0.6"}, {1e-9, 0.3, "above the interval"}, {0.3, 1e-9, "below the interval"},
	} {
		r, err := coveragetest.Glance(normal(c.low, c.high))
		if (err == nil) != (c.want == "") || r.Sets != 3 {
			t.Errorf("%v and %v: %+v, %v, want %q", c.low, c.high, r, err, c.want)
		}
	}
}
