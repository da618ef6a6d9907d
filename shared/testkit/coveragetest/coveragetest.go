package coveragetest

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Predictor is a predictor that promises intervals, with data to test it on.
type Predictor struct {
	Name  string
	Level float64 // promised
	// Run draws a data set of a known distribution, lets the predictor learn from
	// one part and predict another, and returns the predictions with their
	// outcomes. All cases of one seed are one block; the same seed gives the same
	// cases. A hundred cases and a few milliseconds per seed are a good size.
	Run func(seed uint64) []uncertainty.Case
	// Above is the excess over Level that the predictor's coverage may have by its
	// nature, such as 0.02; OneSided says that its two tails need not miss equally.
	Above    float64
	OneSided bool
}

// Result holds the measured coverage. Errors are 4 standard errors over data sets.
type Result struct {
	Sets, Cases            int
	Coverage, Below, Above float64 // fractions: contained, missed below Low, missed above High
	CoverageError          float64
	BelowError, AboveError float64
}

// The margins of a verdict: a tail that is 0.05 off exceeds the sum of tolerance,
// the widest error and the predictor's Above.
const (
	tolerance = 0.01
	precision = 0.015
	minSets   = 30
	maxSets   = 10_000
)

// Check tests all predictors and prints the table of results. A predictor fails if
// its coverage is below the level, if one tail has more than half of the allowed
// misses, or if its coverage exceeds the level by more than Above.
func Check(t *testing.T, predictors []Predictor) {
	t.Helper()
	check(t, predictors, Examine)
}

// CheckFew tests all predictors on three data sets each: enough to find coverage
// that is far too low or far too high, in a test that always runs. [Check] needs
// tens to thousands.
func CheckFew(t *testing.T, predictors []Predictor) {
	t.Helper()
	check(t, predictors, Glance)
}

func check(t *testing.T, predictors []Predictor, examine func(Predictor) (Result, error)) {
	t.Helper()
	t.Logf("%-32s %8s %8s %8s %8s %8s %8s", "predictor", "promised", "held", "±", "below", "above", "cases")
	for _, p := range predictors {
		t.Run(p.Name, func(t *testing.T) {
			r, err := examine(p)
			t.Logf("%-32s %8.3f %8.3f %8.3f %8.3f %8.3f %8d", p.Name, p.Level, r.Coverage, r.CoverageError, r.Below, r.Above, r.Cases)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Examine tests one predictor; the error names the broken promise.
func Examine(p Predictor) (Result, error) {
	var held, below, above []float64
	r := Result{}
	for precise := false; !precise; {
		if r.Sets == maxSets {
			return r, fmt.Errorf("%s: the coverage is known to ± %.3f after %d data sets, want %.3f: draw more cases in each", p.Name, r.CoverageError, r.Sets, precision)
		}
		cases := p.Run(uint64(r.Sets))
		h, b, a, err := shares(p, cases)
		if err != nil {
			return r, fmt.Errorf("%s: seed %d: %w", p.Name, r.Sets, err)
		}
		held, below, above = append(held, h), append(below, b), append(above, a)
		r.Sets, r.Cases = r.Sets+1, r.Cases+len(cases)
		if r.Sets >= minSets && r.Sets%10 == 0 {
			r.Coverage, r.CoverageError = summary(held)
			r.Below, r.BelowError = summary(below)
			r.Above, r.AboveError = summary(above)
			precise = max(r.CoverageError, r.BelowError, r.AboveError) <= precision
		}
	}
	return r, r.verdict(p)
}

// The data sets of [Glance], and the margin for the coverage of so few.
const (
	fewSets   = 3
	fewMargin = 0.12
)

// Glance tests one predictor on a few data sets; the error says that its coverage
// is far too low or far too high.
func Glance(p Predictor) (Result, error) {
	var held, below, above []float64
	r := Result{Sets: fewSets, CoverageError: fewMargin, BelowError: fewMargin, AboveError: fewMargin}
	for seed := range uint64(fewSets) {
		cases := p.Run(seed)
		h, b, a, err := shares(p, cases)
		if err != nil {
			return r, fmt.Errorf("%s: seed %d: %w", p.Name, seed, err)
		}
		held, below, above = append(held, h), append(below, b), append(above, a)
		r.Cases += len(cases)
	}
	r.Coverage, r.Below, r.Above = stat.Mean(held, nil), stat.Mean(below, nil), stat.Mean(above, nil)
	return r, r.verdict(p)
}

// shares returns the fractions of one data set's cases.
func shares(p Predictor, cases []uncertainty.Case) (held, below, above float64, err error) {
	if len(cases) == 0 {
		return 0, 0, 0, fmt.Errorf("no cases")
	}
	for i, c := range cases {
		if d := c.Level - p.Level; d > 1e-9 || d < -1e-9 {
			return 0, 0, 0, fmt.Errorf("case %d promises %v, want %v", i, c.Level, p.Level)
		}
		switch {
		case c.Contains(c.Actual):
			held++
		case c.Actual < c.Low:
			below++
		case c.Actual > c.High:
			above++
		default:
			return 0, 0, 0, fmt.Errorf("case %d: %v is not to be compared with %v", i, c.Actual, c.Prediction)
		}
	}
	n := float64(len(cases))
	return held / n, below / n, above / n, nil
}

// summary returns a mean and 4 of its standard errors.
func summary(values []float64) (mean, wide float64) {
	mean, deviation := stat.MeanStdDev(values, nil)
	return mean, 4 * stat.StdErr(deviation, float64(len(values)))
}

// verdict compares the result with the promise.
func (r Result) verdict(p Predictor) error {
	tail := (1 - p.Level) / 2
	switch {
	case r.Coverage+r.CoverageError+tolerance < p.Level:
		return fmt.Errorf("%s: the intervals hold %.3f ± %.3f, promised %.3f", p.Name, r.Coverage, r.CoverageError, p.Level)
	case r.Coverage-r.CoverageError-tolerance > p.Level+p.Above:
		return fmt.Errorf("%s: the intervals hold %.3f ± %.3f, more than the promised %.3f and %.3f", p.Name, r.Coverage, r.CoverageError, p.Level, p.Above)
	case !p.OneSided && r.Below-r.BelowError-tolerance > tail:
		return fmt.Errorf("%s: %.3f ± %.3f come below the interval, promised %.3f", p.Name, r.Below, r.BelowError, tail)
	case !p.OneSided && r.Above-r.AboveError-tolerance > tail:
		return fmt.Errorf("%s: %.3f ± %.3f come above the interval, promised %.3f", p.Name, r.Above, r.AboveError, tail)
	}
	return nil
}
