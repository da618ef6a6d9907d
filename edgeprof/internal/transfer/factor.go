package transfer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// factorModel is a probabilistic principal component analysis with missing values (Tipping and
// Bishop, JRSS B 1999, section 3): the logarithms of a configuration's latencies are the
// models' means, a few factors times the models' loadings, and noise of each model's own.
type factorModel struct {
	mean     []float64   // of each model; NaN if no configuration has it
	loadings [][]float64 // of each model, on the factors
	noise    []float64   // variance of each model that the factors leave
}

// How the factors are fitted.
const (
	mostFactors   = 6
	factorSteps   = 25   // repetitions at most, each filling in what is missing
	factorSettled = 1e-4 // largest change of a filled-in logarithm that ends them
	noisePrior    = 4    // configurations that the common variance counts for in each model's own
)

// fitFactors fits so many factors to a table, or as many as half of its configurations allow.
// The error matches [ErrTooFew], or is the context's.
func fitFactors(ctx context.Context, t *Table, factors int) (*factorModel, error) {
	n := len(t.Configs)
	d := len(t.Models)
	if n < 5 {
		return nil, fmt.Errorf("%w: %d configurations, want 5 or more", ErrTooFew, n)
	}
	f := &factorModel{mean: t.means(), loadings: make([][]float64, d), noise: make([]float64, d)}
	filled := mat.NewDense(n, d, nil)
	for k := range d {
		f.loadings[k] = []float64{1} // at first all are slow or fast together
		f.noise[k] = 1
		for i := range n {
			if v := t.Configs[i].Log[k]; !math.IsNaN(v) {
				filled.Set(i, k, v)
			}
		}
	}
	f.fill(t, filled)
	for range factorSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.decompose(t, filled, min(factors, mostFactors, n/2, d)); err != nil {
			return nil, err
		}
		if f.fill(t, filled) < factorSettled {
			break
		}
	}
	return f, nil
}

// means returns the mean logarithm of each model; NaN for one without a latency.
func (t *Table) means() []float64 {
	means := make([]float64, len(t.Models))
	for k := range means {
		means[k] = stat.Mean(t.logs(k, nil), nil)
	}
	return means
}

// decompose finds means, loadings and noise from the filled table.
func (f *factorModel) decompose(t *Table, filled *mat.Dense, factors int) error {
	n, d := filled.Dims()
	centered := mat.NewDense(n, d, nil)
	for k := range d {
		if math.IsNaN(f.mean[k]) {
			continue
		}
		column := mat.Col(nil, k, filled)
		f.mean[k] = floats.Sum(column) / float64(n)
		floats.AddConst(-f.mean[k], column)
		centered.SetCol(k, column)
	}
	var svd mat.SVD
	if !svd.Factorize(centered, mat.SVDThin) {
		return fmt.Errorf("%w: its singular values cannot be found", ErrTable)
	}
	var scores, axes mat.Dense
	svd.UTo(&scores)
	svd.VTo(&axes)
	strengths := svd.Values(nil)
	f.loadings = make([][]float64, d)
	for k := range d {
		f.loadings[k] = make([]float64, factors)
		for j := range factors {
			f.loadings[k][j] = axes.At(k, j) * strengths[j] / math.Sqrt(float64(n))
		}
	}
	squares := make([]float64, d)
	counts := make([]float64, d)
	for i := range t.Configs {
		score := mat.Row(nil, i, &scores)[:factors]
		floats.Scale(math.Sqrt(float64(n)), score)
		for _, k := range t.Configs[i].known() {
			off := centered.At(i, k) - floats.Dot(f.loadings[k], score)
			squares[k] += off * off
			counts[k]++
		}
	}
	common := floats.Sum(squares) / floats.Sum(counts) * float64(n) / float64(max(1, n-factors-1))
	common = max(common, 1e-6)
	f.noise = make([]float64, d)
	for k := range d {
		f.noise[k] = (squares[k] + noisePrior*common) / (counts[k] + noisePrior)
	}
	return nil
}

// fill replaces what was not measured by its expected value, and returns the largest change.
func (f *factorModel) fill(t *Table, filled *mat.Dense) float64 {
	largest := 0.0
	for i := range t.Configs {
		c := &t.Configs[i]
		seen := c.known()
		if len(seen) == len(c.Log) {
			continue
		}
		given := f.given(c.Log, seen)
		for k, v := range c.Log {
			if math.IsNaN(v) && !math.IsNaN(f.mean[k]) {
				value := given.value(k)
				largest = max(largest, math.Abs(value-filled.At(i, k)))
				filled.Set(i, k, value)
			}
		}
	}
	return largest
}

// posterior is the distribution of a configuration's factors after some measurements.
type posterior struct {
	*factorModel
	factors    []float64
	covariance [][]float64
}

// prior returns the factors' distribution without a measurement.
func (f *factorModel) prior() *posterior {
	count := len(f.loadings[0])
	p := &posterior{factorModel: f, factors: make([]float64, count), covariance: make([][]float64, count)}
	for j := range count {
		p.covariance[j] = make([]float64, count)
		p.covariance[j][j] = 1
	}
	return p
}

// given returns the factors' distribution after the measurements in these places.
func (f *factorModel) given(log []float64, seen []int) *posterior {
	p := f.prior()
	for _, k := range seen {
		p.condition(k, log[k]-p.value(k))
	}
	return p
}

// condition takes in a measurement of a model, so far from its expected value.
func (p *posterior) condition(k int, off float64) {
	covariances := p.covariances(k)
	variance := floats.Dot(p.loadings[k], covariances) + p.noise[k]
	floats.AddScaled(p.factors, off/variance, covariances)
	for j, row := range p.covariance {
		floats.AddScaled(row, -covariances[j]/variance, covariances)
	}
}

// covariances returns those of a model with the factors.
func (p *posterior) covariances(k int) []float64 {
	out := make([]float64, len(p.factors))
	for j, row := range p.covariance {
		out[j] = floats.Dot(row, p.loadings[k])
	}
	return out
}

// value returns the expected logarithm of a model.
func (p *posterior) value(k int) float64 { return p.mean[k] + floats.Dot(p.loadings[k], p.factors) }

// variance returns that of a model's logarithm.
func (p *posterior) variance(k int) float64 {
	return floats.Dot(p.loadings[k], p.covariances(k)) + p.noise[k]
}

// chooseNext returns the model, out of some, whose measurement lessens the sum of the variances
// about others most (Krause, Singh and Guestrin, "Near-Optimal Sensor Placements in Gaussian
// Processes", JMLR 2008); -1 if none lessens it.
func (p *posterior) chooseNext(from, about []int) int {
	count := len(p.factors)
	weights := mat.NewSymDense(count, nil)
	for _, k := range about {
		weights.SymRankOne(weights, 1, mat.NewVecDense(count, p.loadings[k]))
	}
	best := -1
	most := 0.0
	for _, k := range from {
		covariances := mat.NewVecDense(count, p.covariances(k))
		if gain := mat.Inner(covariances, weights, covariances) / p.variance(k); gain > most {
			best = k
			most = gain
		}
	}
	return best
}

// known returns the places of what is known of a configuration.
func (c *Config) known() []int {
	var seen []int
	for k, v := range c.Log {
		if !math.IsNaN(v) {
			seen = append(seen, k)
		}
	}
	return seen
}

// rest returns the measured places of a configuration except its anchors.
func (c *Config) rest(anchors []int) []int {
	return slices.DeleteFunc(c.known(), func(k int) bool { return slices.Contains(anchors, k) })
}
