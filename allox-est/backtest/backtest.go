package backtest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/allox-est/estimate"
	"github.com/foretime/foretime/allox-est/mark"
	"github.com/foretime/foretime/shared/registry"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is that of the intervals.
const Level = 0.95

// ErrTooFew is returned where no series is long enough to be judged.
var ErrTooFew = errors.New("no series to judge")

// Method predicts the sum of n steps from the first of them. Unsure says that it
// declines to be trusted.
type Method func(first []float64, n int) (p uncertainty.Prediction, unsure bool, err error)

// Methods are those that are judged. A new one is a function and a line here.
var Methods = registry.List[Method]{
	{Name: "auto", Help: "as allox-est estimates", New: func(first []float64, n int) (uncertainty.Prediction, bool, error) {
		at := 0.0
		marks := []mark.Mark{{}}
		for i, x := range first {
			at += x
			marks = append(marks, mark.Mark{Number: float64(i + 1), Seconds: at})
		}
		r, err := estimate.Continue(marks, nil, estimate.Job{Epochs: n}, Level)
		return r.Total, r.Refused != nil, err
	}},
	{Name: "ratio", Help: "the steps seen in proportion, and an error of a tenth", New: ratio},
	{Name: "mean", Help: "the mean of the steps seen, with Student's interval", New: mean},
}

func ratio(first []float64, n int) (uncertainty.Prediction, bool, error) {
	value := stat.Mean(first, nil) * float64(n)
	return uncertainty.Prediction{Value: value, Low: 0.9 * value, High: 1.1 * value, Level: Level}, false, nil
}

// mean takes the steps for independent: the sum of those to come varies by their
// own noise and by that of the mean.
func mean(first []float64, n int) (uncertainty.Prediction, bool, error) {
	m, sd := stat.MeanStdDev(first, nil)
	seen, left := float64(len(first)), float64(n-len(first))
	half := distuv.StudentsT{Sigma: 1, Nu: seen - 1}.Quantile((1+Level)/2) * sd * math.Sqrt(left*left/seen+left)
	value := floats.Sum(first) + left*m
	return uncertainty.Prediction{Value: value, Low: value - half, High: value + half, Level: Level}, false, nil
}

// Report is what was found.
type Report struct {
	Level    float64          `json:"level"`
	Fraction float64          `json:"fraction"`
	Series   int              `json:"series"`
	Blocks   int              `json:"blocks"`
	Methods  map[string]Score `json:"methods"`
	// Short are the series too short to be judged.
	Short []string `json:"short,omitempty"`
}

// Score is how one method fared: errors in percent of the sum, the others as
// shares of it or of the series.
type Score struct {
	MAPE      float64 `json:"mape"`
	MedianAPE float64 `json:"median_ape"`
	Coverage  float64 `json:"coverage"`
	// CoverageLow and CoverageHigh are a 95 % interval of Coverage over blocks; nil
	// of fewer than two.
	CoverageLow       *float64 `json:"coverage_low,omitempty"`
	CoverageHigh      *float64 `json:"coverage_high,omitempty"`
	MedianWidth       float64  `json:"median_width"`
	IntervalScore     float64  `json:"interval_score"`
	Flagged           float64  `json:"flagged"`
	CoverageUnflagged *float64 `json:"coverage_unflagged"` // nil where all are flagged
}

// least is how many steps must be seen.
const least = 3

// Itself is the block of a series that belongs to no other.
func Itself(name string) string { return name }

// Run judges all methods on every series, from the first share of its steps, at
// least three. Block names what series belong together: [Itself], where none do.
func Run(all []Series, fraction float64, block func(name string) string) (*Report, error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, fmt.Errorf("fraction %v: want a share between 0 and 1", fraction)
	}
	r := &Report{Level: Level, Fraction: fraction, Methods: map[string]Score{}}
	var judged []Series
	for _, s := range all {
		if len(s.Values) <= least || floats.Sum(s.Values) <= 0 {
			r.Short = append(r.Short, s.Name)
			continue
		}
		judged = append(judged, s)
	}
	if len(judged) == 0 {
		return nil, fmt.Errorf("%w: %d are shorter than %d steps or take no time", ErrTooFew, len(all), least+1)
	}
	r.Series = len(judged)
	blocks := map[string]bool{}
	for _, m := range Methods {
		var cases []judgement
		for _, s := range judged {
			c, err := judge(m.New, s, fraction)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.Name, m.Name, err)
			}
			c.Block = block(s.Name)
			blocks[c.Block] = true
			cases = append(cases, c)
		}
		r.Methods[m.Name] = score(cases)
	}
	r.Blocks = len(blocks)
	return r, nil
}

// judgement is a series' sum, of which the unit is itself, and what was
// predicted of it.
type judgement struct {
	uncertainty.Case
	unsure bool
}

func judge(m Method, s Series, fraction float64) (judgement, error) {
	n := len(s.Values)
	seen := min(n-1, max(least, int(math.Round(fraction*float64(n)))))
	p, unsure, err := m(s.Values[:seen], n)
	if err != nil {
		return judgement{}, err
	}
	p.Level = Level
	return judgement{uncertainty.Case{Prediction: p.Times(1 / floats.Sum(s.Values)), Actual: 1}, unsure}, nil
}

func score(cases []judgement) Score {
	var s Score
	var apes, widths []float64
	var sure, held float64
	var all []uncertainty.Case
	n := float64(len(cases))
	for _, c := range cases {
		ape := 100 * math.Abs(c.Value-1)
		apes, widths, all = append(apes, ape), append(widths, c.Width()), append(all, c.Case)
		s.MAPE += ape / n
		s.IntervalScore += c.Score(1) / n
		in := 0.0
		if c.Contains(1) {
			in = 1
		}
		s.Coverage += in / n
		if c.unsure {
			s.Flagged += 1 / n
			continue
		}
		sure++
		held += in
	}
	s.MedianAPE, s.MedianWidth = stats.Median(apes), stats.Median(widths)
	if sure > 0 {
		held /= sure
		s.CoverageUnflagged = &held
	}
	if v, err := uncertainty.Judge(Level, all); err == nil {
		s.CoverageLow, s.CoverageHigh = &v.Coverage.Low, &v.Coverage.High
	}
	return s
}
