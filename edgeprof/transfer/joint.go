package transfer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Joint is the distribution of the logarithms of all models' latencies over
// configurations, and of the logarithm of their threads: normal with heavy tails
// (Student's t), its mean and covariance by expectation-maximisation over what
// was measured (Little and Rubin, "Statistical Analysis with Missing Data",
// sections 8.2 and 12.2). The covariance is drawn toward independent models,
// more so the fewer configurations there are.
type Joint struct {
	Models []string
	mean   []float64
	cov    *mat.SymDense
}

// How the distribution is fitted.
const (
	steps   = 25   // of expectation-maximisation; it moves no more by then
	toward  = 4    // configurations that the prior of the covariance counts for
	own     = 0.02 // variance of a model's own in that prior: 14 % of its latency
	degrees = 6    // of freedom of the tails
)

// Fit finds the distribution. The error matches [ErrTooFew], or is the context's.
func Fit(ctx context.Context, t *Table) (*Joint, error) {
	if len(t.Configs) < 5 {
		return nil, fmt.Errorf("%w: %d configurations, want 5", ErrTooFew, len(t.Configs))
	}
	rows := make([][]float64, len(t.Configs))
	for i := range t.Configs {
		rows[i] = vector(&t.Configs[i])
	}
	j := &Joint{Models: t.Models}
	j.start(rows)
	for range steps {
		if err := j.step(ctx, rows); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// vector is a configuration as the distribution has it.
func vector(c *Config) []float64 {
	return append(append([]float64{}, c.Log...), math.Log2(float64(c.Threads)))
}

// start takes missing latencies for those of a configuration as fast elsewhere.
func (j *Joint) start(rows [][]float64) {
	d := len(rows[0])
	j.mean = make([]float64, d)
	for k := range d {
		sum, n := 0.0, 0.0
		for _, r := range rows {
			if !math.IsNaN(r[k]) {
				sum, n = sum+r[k], n+1
			}
		}
		j.mean[k] = sum / max(1, n)
	}
	j.cov = mat.NewSymDense(d, nil)
	for a := range d {
		for b := a; b < d; b++ {
			v := 1.0 // all are slow or fast together
			if a == d-1 && b < d-1 {
				v = 0
			}
			if a == b {
				v++
			}
			j.cov.SetSym(a, b, v)
		}
	}
}

// step is one of expectation and maximisation.
func (j *Joint) step(ctx context.Context, rows [][]float64) error {
	d := len(j.mean)
	sum, weights := make([]float64, d), 0.0
	filled, ws := make([][]float64, len(rows)), make([]float64, len(rows))
	spread := mat.NewSymDense(d, nil)
	for i, r := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		seen := measured(r)
		c, err := j.given(r, seen)
		if err != nil {
			return err
		}
		w := (degrees + float64(len(seen))) / (degrees + c.distance)
		filled[i], ws[i] = c.values, w
		weights += w
		for k, v := range c.values {
			sum[k] += w * v
		}
		for a, ka := range c.open {
			for b := a; b < len(c.open); b++ {
				kb := c.open[b]
				spread.SetSym(ka, kb, spread.At(ka, kb)+c.cov.At(a, b))
			}
		}
	}
	for k := range j.mean {
		j.mean[k] = sum[k] / weights
	}
	n := float64(len(rows))
	for a := range d {
		if err := ctx.Err(); err != nil {
			return err
		}
		for b := a; b < d; b++ {
			v := spread.At(a, b)
			for i := range filled {
				v += ws[i] * (filled[i][a] - j.mean[a]) * (filled[i][b] - j.mean[b])
			}
			if a == b {
				v += toward * own
			}
			j.cov.SetSym(a, b, v/(n+toward))
		}
	}
	return nil
}

// measured are the places of what is known.
func measured(r []float64) []int {
	var seen []int
	for k, v := range r {
		if !math.IsNaN(v) {
			seen = append(seen, k)
		}
	}
	return seen
}

// conditional is the distribution of what is open, given what was seen.
type conditional struct {
	values   []float64 // seen, or the conditional mean
	open     []int     // places that were not seen
	cov      *mat.SymDense
	distance float64 // of what was seen from its mean, in covariances
}

func (j *Joint) given(r []float64, seen []int) (*conditional, error) {
	d := len(j.mean)
	c := &conditional{values: append([]float64{}, j.mean...)}
	is := make([]bool, d)
	for _, k := range seen {
		is[k] = true
		c.values[k] = r[k]
	}
	for k := range d {
		if !is[k] {
			c.open = append(c.open, k)
		}
	}
	if len(c.open) > 0 {
		c.cov = j.part(c.open)
	}
	if len(seen) == 0 {
		return c, nil
	}
	chol, err := j.factor(seen)
	if err != nil {
		return nil, err
	}
	off := mat.NewVecDense(len(seen), nil)
	for i, k := range seen {
		off.SetVec(i, r[k]-j.mean[k])
	}
	solved := mat.VecDenseCopyOf(off)
	blas64.Trsv(blas.Trans, chol, solved.RawVector())
	blas64.Trsv(blas.NoTrans, chol, solved.RawVector())
	c.distance = mat.Dot(off, solved)
	if len(c.open) == 0 {
		return c, nil
	}
	cross, weights := j.regressed(chol, seen, c.open)
	for o, k := range c.open {
		c.values[k] += mat.Dot(cross.ColView(o), solved)
	}
	var explained mat.Dense
	explained.Mul(cross.T(), weights)
	for a := range c.open {
		for b := a; b < len(c.open); b++ {
			c.cov.SetSym(a, b, c.cov.At(a, b)-explained.At(a, b))
		}
	}
	return c, nil
}

// factor is Cholesky's of the covariance of some places. It is that alone:
// mat.Cholesky estimates a condition number besides, which takes longer.
func (j *Joint) factor(of []int) (blas64.Triangular, error) {
	chol, ok := lapack64.Potrf(j.part(of).RawSymmetric())
	if !ok {
		return chol, fmt.Errorf("%w: the covariance of %d models is singular", ErrTable, len(of))
	}
	return chol, nil
}

// regressed are the covariances of what was seen with others, and the weights that
// predict these from it.
func (j *Joint) regressed(chol blas64.Triangular, seen, others []int) (cross, weights *mat.Dense) {
	cross = mat.NewDense(len(seen), len(others), nil)
	for i, ks := range seen {
		for o, ko := range others {
			cross.Set(i, o, j.cov.At(ks, ko))
		}
	}
	weights = mat.DenseCopyOf(cross)
	blas64.Trsm(blas.Left, blas.Trans, 1, chol, weights.RawMatrix())
	blas64.Trsm(blas.Left, blas.NoTrans, 1, chol, weights.RawMatrix())
	return cross, weights
}

// part is the covariance of some places.
func (j *Joint) part(of []int) *mat.SymDense {
	out := mat.NewSymDense(len(of), nil)
	for a, ka := range of {
		for b := a; b < len(of); b++ {
			out.SetSym(a, b, j.cov.At(ka, of[b]))
		}
	}
	return out
}

// Estimate is the logarithm of a latency, with its standard deviation.
type Estimate struct{ Log, Deviation float64 }

// Predict estimates every model of a configuration of which some were measured.
func (j *Joint) Predict(c *Config, anchors []int) ([]Estimate, error) {
	r, all := make([]float64, len(j.mean)), vector(c)
	for k := range r {
		r[k] = math.NaN()
	}
	seen := append(append([]int{}, anchors...), len(j.mean)-1)
	for _, k := range seen {
		r[k] = all[k]
	}
	given, err := j.given(r, measured(r))
	if err != nil {
		return nil, err
	}
	out := make([]Estimate, len(j.Models))
	for k := range out {
		out[k].Log = given.values[k]
	}
	for o, k := range given.open {
		if k < len(out) {
			out[k].Deviation = math.Sqrt(max(1e-8, given.cov.At(o, o)))
		}
	}
	return out, nil
}

// Anchors are the models to measure, out of some, that leave the least doubt
// about others: each time the one that lessens the mean variance of these most.
func (j *Joint) Anchors(ctx context.Context, from, about []int, n int) ([]int, error) {
	var chosen []int
	for range min(n, len(from)) {
		best, least := -1, math.Inf(1)
		for _, k := range from {
			if slices.Contains(chosen, k) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			doubt, err := j.doubt(append(append([]int{}, chosen...), k), about)
			if err != nil {
				return nil, err
			}
			if doubt < least {
				best, least = k, doubt
			}
		}
		chosen = append(chosen, best)
	}
	return chosen, nil
}

// doubt is the sum of the variances of models, given others and the threads.
func (j *Joint) doubt(seen, about []int) (float64, error) {
	chol, err := j.factor(append(slices.Clone(seen), len(j.mean)-1))
	if err != nil {
		return 0, err
	}
	rest := slices.DeleteFunc(slices.Clone(about), func(k int) bool { return slices.Contains(seen, k) })
	if len(rest) == 0 {
		return 0, nil
	}
	cross, weights := j.regressed(chol, append(slices.Clone(seen), len(j.mean)-1), rest)
	sum := 0.0
	for o, k := range rest {
		sum += j.cov.At(k, k) - mat.Dot(cross.ColView(o), weights.ColView(o))
	}
	return sum, nil
}
