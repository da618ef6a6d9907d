package coveragetest

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Predictor is something that promises intervals, and data to ask it on.
type Predictor struct {
	Name  string
	Level float64 // promised
	// Run draws a data set whose law is known, lets the predictor learn from
	// one part and answer for another, and returns the answers with what came.
	// All cases of one seed are one block; the same seed gives the same cases.
	// A hundred cases and a few milliseconds a seed are a good size.
	Run func(seed uint64) []uncertainty.Case
	// Above is how much more than Level the predictor may cover by its nature,
	// 0.02 for one; and OneSided says that its two tails do not miss alike.
	Above    float64
	OneSided bool
}

// Result is what was found. Errors are 4 standard errors over data sets.
type Result struct {
	Sets, Cases            int
	Coverage, Below, Above float64 // shares: held, missed below Low, missed above High
	CoverageError          float64
	BelowError, AboveError float64
}

// The margins of a verdict: a tail that is 0.05 off is more than tolerance,
// the widest error and what the predictor may have Above away from its promise.
const (
	tolerance = 0.01
	precision = 0.015
	fewest    = 30
	most      = 10_000
)

// Check asks all predictors and prints the table of what was found. It fails
// for each that holds less than it promises, misses more at one end than half
// of what it may miss, or holds more than it promises and Above.
func Check(t *testing.T, predictors []Predictor) {
	t.Helper()
	check(t, predictors, Examine)
}

// CheckFew asks all predictors on three data sets each: enough to see intervals that hold
// far too few or far too many, in a test that always runs. [Check] needs tens to thousands.
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

// Examine asks one predictor; the error says which promise is broken.
func Examine(p Predictor) (Result, error) {
	var held, below, above []float64
	r := Result{}
	for precise := false; !precise; {
		if r.Sets == most {
			return r, fmt.Errorf("%s: the coverage is known to ± %.3f after %d data sets, want %.3f: draw more cases in each", p.Name, r.CoverageError, r.Sets, precision)
		}
		cases := p.Run(uint64(r.Sets))
		h, b, a, err := shares(p, cases)
		if err != nil {
			return r, fmt.Errorf("%s: seed %d: %w", p.Name, r.Sets, err)
		}
		held, below, above = append(held, h), append(below, b), append(above, a)
		r.Sets, r.Cases = r.Sets+1, r.Cases+len(cases)
		if r.Sets >= fewest && r.Sets%10 == 0 {
			r.Coverage, r.CoverageError = summary(held)
			r.Below, r.BelowError = summary(below)
			r.Above, r.AboveError = summary(above)
			precise = max(r.CoverageError, r.BelowError, r.AboveError) <= precision
		}
	}
	return r, r.verdict(p)
}

// The data sets of [Glance], and how far the coverage of so few may be from the promise.
const (
	fewSets = 3
	far     = 0.12
)

// Glance asks one predictor on a few data sets; the error says that the intervals hold
// far fewer or far more than they promise.
func Glance(p Predictor) (Result, error) {
	var held, below, above []float64
	r := Result{Sets: fewSets, CoverageError: far, BelowError: far, AboveError: far}
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

// shares are those of one data set's cases.
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

// summary is a mean and 4 of its standard errors.
func summary(values []float64) (mean, wide float64) {
	mean, deviation := stat.MeanStdDev(values, nil)
	return mean, 4 * stat.StdErr(deviation, float64(len(values)))
}

// verdict compares what was found with the promise.
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
