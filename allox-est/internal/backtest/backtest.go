package backtest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is the level of the intervals.
const Level = 0.95

// ErrTooFew is returned where no series is long enough to be judged.
var ErrTooFew = errors.New("no usable series")

// Report holds the results of a backtest.
type Report struct {
	File     string           `json:"file,omitempty"`
	Level    float64          `json:"level"`
	Fraction float64          `json:"fraction"`
	Series   int              `json:"series"`
	Blocks   int              `json:"blocks"`
	Methods  map[string]Score `json:"methods"`
	// Of are the answers of the method that is judged, by series.
	Of []Answer `json:"of"`
	// Short are the series too short to be judged.
	Short []string `json:"short,omitempty"`
}

// Answer is the answer for one series from its first steps, in its unit.
type Answer struct {
	Series  string                  `json:"series"`
	Block   string                  `json:"block"`
	Actual  float64                 `json:"actual"`
	Refused bool                    `json:"refused,omitempty"`
	Reason  string                  `json:"reason,omitempty"`
	Total   *uncertainty.Prediction `json:"total"` // nil where it is refused
}

// Score summarises the errors of one method on the series that it did not refuse: errors in
// percent of the sum, the others as shares of it or of the series.
type Score struct {
	MAPE      float64 `json:"mape"`
	Deviation float64 `json:"deviation"` // standard deviation of the signed errors
	Coverage  float64 `json:"coverage"`
	Below     float64 `json:"below"` // of the totals, below the interval
	Above     float64 `json:"above"`
	// The others are 95 % intervals over blocks; nil of fewer than two.
	MAPELow       *float64 `json:"mape_low,omitempty"`
	MAPEHigh      *float64 `json:"mape_high,omitempty"`
	CoverageLow   *float64 `json:"coverage_low,omitempty"`
	CoverageHigh  *float64 `json:"coverage_high,omitempty"`
	MedianWidth   float64  `json:"median_width"`
	IntervalScore float64  `json:"interval_score"`
	Refused       float64  `json:"refused"`
}

// least is the smallest number of steps that must be seen.
const least = 3

// alike matches the end of a series' name that numbers the runs of one job: a number, and a
// letter before it.
var alike = regexp.MustCompile(`[-_.:/ ]?[A-Za-z]?[0-9]+$`)

// BlockOf names what series belong together: those whose names differ in the number
// at their end, as workers of one job do.
func BlockOf(name string) string {
	if part := alike.ReplaceAllString(name, ""); part != "" {
		return part
	}
	return name
}

// BlocksBy returns a function that names the block of a series by the part of its name that
// matches a regular expression; BlockOf where there is none.
func BlocksBy(pattern string) (func(name string) string, error) {
	if pattern == "" {
		return BlockOf, nil
	}
	part, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	return func(name string) string { return cmp.Or(part.FindString(name), name) }, nil
}

// trial is one series, how much of it is seen and what is said of it by one method.
type trial struct {
	series  Series
	block   string
	seen    int
	actual  float64
	refused error
	uncertainty.Prediction
}

// Run judges all methods on every series, from the first share of its steps, at
// least three. Block names what series belong together; of a series those of other
// blocks are the user's past. Done is called with the share of the work that is done.
func Run(all []Series, fraction float64, block func(name string) string, done func(share float64)) (*Report, error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, fmt.Errorf("fraction %v: want a fraction between 0 and 1", fraction)
	}
	judged, short := trials(all, fraction, block)
	if len(judged) == 0 {
		return nil, fmt.Errorf("%w: each of the %d has fewer than %d steps or a total of 0", ErrTooFew, len(all), least+1)
	}
	blocks := map[string]bool{}
	for _, t := range judged {
		blocks[t.block] = true
	}
	r := &Report{Level: Level, Fraction: fraction, Series: len(judged), Blocks: len(blocks), Methods: map[string]Score{}, Short: short}
	for i, m := range Methods {
		ts := slices.Clone(judged)
		if err := m.New(ts); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		r.Methods[m.Name] = scoreOf(ts)
		if i == 0 {
			r.Of = answers(ts)
		}
		done(float64(i+1) / float64(len(Methods)))
	}
	return r, nil
}

// trials returns a trial of each series, and the names of those that are too short.
func trials(all []Series, fraction float64, block func(name string) string) (ts []trial, short []string) {
	for _, s := range all {
		n, sum := len(s.Values), floats.Sum(s.Values)
		if n <= least || sum <= 0 {
			short = append(short, s.Name)
			continue
		}
		seen := min(n-1, max(least, int(math.Round(fraction*float64(n)))))
		ts = append(ts, trial{series: s, block: block(s.Name), seen: seen, actual: sum})
	}
	return ts, short
}

func answers(ts []trial) []Answer {
	var of []Answer
	for _, t := range ts {
		a := Answer{Series: t.series.Name, Block: t.block, Actual: t.actual}
		if t.refused != nil {
			a.Refused, a.Reason = true, t.refused.Error()
		} else {
			a.Total = &t.Prediction
		}
		of = append(of, a)
	}
	return of
}

// marksOf returns the marks of a run of such steps.
func marksOf(steps []float64) []progress.Mark {
	marks, at := []progress.Mark{{}}, 0.0
	for i, x := range steps {
		at += x
		marks = append(marks, progress.Mark{Number: float64(i + 1), Seconds: at})
	}
	return marks
}

// shape returns the shape of the series as a past run; one without a rest if it has no pace.
func (t *trial) shape() history.Shape {
	pace, ok := history.PaceOf(marksOf(t.series.Values[:t.seen]))
	if !ok {
		return history.Shape{}
	}
	left := t.series.Values[t.seen:]
	return history.Shape{Block: t.block, Pace: pace, Rest: floats.Sum(left) / float64(len(left))}
}

// forecast predicts as allox-est does for a run that goes on, with past runs of which as
// much was seen.
func (t *trial) forecast(past []history.Shape) error {
	job := estimate.Job{Epochs: len(t.series.Values), Unit: "step"}
	rest, err := estimate.Forecast(marksOf(t.series.Values[:t.seen]), nil, job, Level, past)
	t.Prediction, t.refused = rest.Total, rest.Refused
	return err
}

// scoreOf returns the score of the trials' predictions.
func scoreOf(ts []trial) Score {
	var s Score
	var widths []float64
	var errors []blockError
	var all []uncertainty.Case
	for _, t := range ts {
		if t.refused != nil {
			s.Refused += 1 / float64(len(ts))
			continue
		}
		p := t.Times(1 / t.actual)
		p.Level = Level
		errors = append(errors, blockError{t.block, 100 * (p.Value - 1)})
		widths = append(widths, p.Width())
		all = append(all, uncertainty.Case{Prediction: p, Actual: 1, Block: t.block})
		s.IntervalScore += p.Score(1)
		switch {
		case p.Low > 1:
			s.Below++
		case p.High < 1:
			s.Above++
		default:
			s.Coverage++
		}
	}
	if len(all) == 0 {
		return s
	}
	n := float64(len(all))
	s.Below /= n
	s.Above /= n
	s.Coverage /= n
	s.IntervalScore /= n
	s.MedianWidth = stats.Median(widths)
	s.MAPE = meanAbsolute(errors)
	s.Deviation = deviation(errors)
	if v, err := uncertainty.Judge(Level, all); err == nil {
		s.CoverageLow = &v.Coverage.Low
		s.CoverageHigh = &v.Coverage.High
	}
	blocks := uncertainty.Blocks(errors, func(e blockError) string { return e.block })
	resampled, err := uncertainty.Bootstrap(blocks, func(sample [][]blockError) float64 { return meanAbsolute(slices.Concat(sample...)) }, uncertainty.Resampling{})
	if err == nil {
		s.MAPELow = &resampled.Low
		s.MAPEHigh = &resampled.High
	}
	return s
}

// blockError is the error of a prediction in percent, and the block of its series.
type blockError struct {
	block   string
	percent float64
}

// meanAbsolute returns the mean of the absolute errors.
func meanAbsolute(errors []blockError) float64 {
	sum := 0.0
	for _, e := range errors {
		sum += math.Abs(e.percent)
	}
	return sum / float64(len(errors))
}

// deviation returns the standard deviation of the errors; 0 of one.
func deviation(errors []blockError) float64 {
	if len(errors) < 2 {
		return 0
	}
	percents := make([]float64, len(errors))
	for i, e := range errors {
		percents[i] = e.percent
	}
	return stat.StdDev(percents, nil)
}
