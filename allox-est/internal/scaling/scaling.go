package scaling

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Errors of a model.
var (
	// ErrTooFew is returned for fewer configurations than a model needs.
	ErrTooFew = errors.New("too few configurations")
	// ErrCell is returned for a configuration that cannot be used.
	ErrCell = errors.New("bad configuration")
	// ErrUnknown is returned for a class that no configuration has.
	ErrUnknown = errors.New("unknown configuration")
)

// fewest is the smallest number of configurations for a model: with one left out, two must
// still give a slope.
const fewest = 3

// Cell is a configuration and the time it took.
type Cell struct {
	Numbers []float64 // positive: threads, batch size...
	Class   string    // what is no number: the device, its kind
	Seconds float64
}

// Model predicts the time of a configuration.
type Model struct {
	law   law
	left  []law     // each without one cell
	miss  []float64 // logarithms of the truth over what the others say of it
	level float64
}

// Fit fits a model to at least three cells of equally many numbers, whose
// intervals hold the given share of new configurations. Errors wrap ErrTooFew or
// ErrCell.
func Fit(cells []Cell, level float64) (*Model, error) {
	if len(cells) < fewest {
		return nil, fmt.Errorf("%w: %d, want at least %d", ErrTooFew, len(cells), fewest)
	}
	for i, c := range cells {
		if err := c.check(len(cells[0].Numbers)); err != nil {
			return nil, fmt.Errorf("%w %d: %w", ErrCell, i+1, err)
		}
	}
	m := &Model{level: level}
	var err error
	if m.law, err = fit(cells); err != nil {
		return nil, err
	}
	for i, c := range cells {
		l, err := fit(slices.Delete(slices.Clone(cells), i, i+1))
		if err != nil {
			return nil, err
		}
		m.left = append(m.left, l)
		m.miss = append(m.miss, math.Log(c.Seconds/l.seconds(c)))
	}
	return m, nil
}

func (c Cell) check(numbers int) error {
	if len(c.Numbers) != numbers {
		return fmt.Errorf("%d numbers, others have %d", len(c.Numbers), numbers)
	}
	for _, x := range append([]float64{c.Seconds}, c.Numbers...) {
		if !(x > 0) || math.IsInf(x, 0) {
			return fmt.Errorf("%v: want a positive number", x)
		}
	}
	return nil
}

// Predict returns the seconds of a configuration. The interval is Student's, of
// the logarithm: its variance is the mean square of the misses and the
// jackknife's (Efron and Tibshirani 1993, section 11.2). The error wraps
// ErrUnknown or ErrCell.
func (m *Model) Predict(numbers []float64, class string) (uncertainty.Prediction, error) {
	c := Cell{numbers, class, 1}
	if err := c.check(len(m.law.least)); err != nil {
		return uncertainty.Prediction{}, fmt.Errorf("%w: %w", ErrCell, err)
	}
	if _, ok := m.law.factor[class]; !ok {
		return uncertainty.Prediction{}, fmt.Errorf("%w: %q", ErrUnknown, class)
	}
	value := m.law.seconds(c)
	n := float64(len(m.left))
	logs, missed := make([]float64, len(m.left)), 0.0
	for i, l := range m.left {
		logs[i] = math.Log(l.seconds(c))
		missed += m.miss[i] * m.miss[i] / n
	}
	jackknife := (n - 1) * stat.PopVariance(logs, nil)
	df := max(1, n-float64(len(m.law.factor)))
	t := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile((1 + m.level) / 2)
	half := math.Exp(t * math.Sqrt(missed+jackknife))
	return uncertainty.Prediction{Value: value, Low: value / half, High: value * half, Level: m.level}, nil
}

// law is the time of a configuration: a sum of costs, times the factor of its
// class.
type law struct {
	least  []float64 // of each number: no logarithm of those seen is negative
	costs  []float64 // of each term
	factor map[string]float64
	other  float64 // factor of a class that was left out
}

// rounds is the number of times that costs and factors are fitted in turn.
const rounds = 30

func fit(cells []Cell) (law, error) {
	l := law{least: slices.Clone(cells[0].Numbers), factor: map[string]float64{}}
	for _, c := range cells {
		for k, x := range c.Numbers {
			l.least[k] = min(l.least[k], x)
		}
		l.factor[c.Class] = 1
	}
	for range rounds {
		if err := l.fitCosts(cells); err != nil {
			return l, err
		}
		l.fitFactors(cells)
		if len(l.factor) == 1 {
			break
		}
	}
	return l, nil
}

// fitCosts minimises the relative errors with the factors as they are.
func (l *law) fitCosts(cells []Cell) error {
	var rows [][]float64
	var ones []float64
	for _, c := range cells {
		row := l.terms(c.Numbers)
		for k := range row {
			row[k] *= l.factor[c.Class] / c.Seconds
		}
		rows, ones = append(rows, row), append(ones, 1)
	}
	s, err := regression.NewSamples(rows, ones)
	if err != nil {
		return err
	}
	m, err := linear.NNLS{NoIntercept: true}.Fit(context.Background(), s)
	if err != nil {
		return err
	}
	l.costs = m.Coefficients
	return nil
}

// fitFactors centres the relative errors of each class, with the costs as they
// are.
func (l *law) fitFactors(cells []Cell) {
	logs, counts := map[string]float64{}, map[string]float64{}
	l.other = 0
	for _, c := range cells {
		logs[c.Class] += math.Log(c.Seconds / l.sum(c.Numbers))
		counts[c.Class]++
	}
	for class, sum := range logs {
		l.factor[class] = math.Exp(sum / counts[class])
	}
	for _, f := range l.factor {
		l.other = max(l.other, f)
	}
}

func (l *law) seconds(c Cell) float64 {
	f, ok := l.factor[c.Class]
	if !ok {
		f = l.other
	}
	return f * l.sum(c.Numbers)
}

func (l *law) sum(numbers []float64) float64 {
	sum := 0.0
	for k, x := range l.terms(numbers) {
		sum += l.costs[k] * x
	}
	return max(sum, 1e-300) // a time of 0 has no logarithm
}

// terms are the products of 1, 1/x, x and log x over the numbers, each relative
// to the least seen; below that a logarithm is 0.
func (l *law) terms(numbers []float64) []float64 {
	products := []float64{1}
	for k, x := range numbers {
		x /= l.least[k]
		var next []float64
		for _, p := range products {
			next = append(next, p, p/x, p*x, p*max(0, math.Log(x)))
		}
		products = next
	}
	return products
}
