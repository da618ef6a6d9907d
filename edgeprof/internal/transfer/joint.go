package transfer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// JointDistribution is the distribution of the logarithms of all models' latencies over
// configurations, and of the logarithm of their threads: normal, with heavy tails (Student's t)
// if there are more configurations than models. Its mean and covariance come from the table;
// missing values are found by regression on the rest, repeatedly (Little and Rubin, "Statistical
// Analysis with Missing Data", section 4.2). The covariance is drawn toward a prior, more so
// the fewer configurations there are: a part of each model's own. It is stored as its
// factors, so a table of n models takes time and memory in proportion to n.
type JointDistribution struct {
	Models []string
	mean   []float64
	rows   [][]float64 // of each model, then of the threads: its factors
	open   []float64   // variance of each that what is missing leaves open
	prior  float64     // weight of the prior in the covariance
}

// How the distribution is fitted: chosen on Tencent/ncnn's boards, without NAS-Bench-201.
const (
	steps   = 25   // of regression of what is missing; it moves no more by then
	toward  = 4    // configurations that the prior of the covariance counts for
	own     = 0.02 // variance of a model's own in that prior: 14 % of its latency
	degrees = 6    // of freedom of the tails, and of a new device
	asked   = 64   // measured models at most that a missing one is worked out from
)

// Fit finds the distribution. The error matches [ErrTooFew], or is the context's.
func Fit(ctx context.Context, t *Table) (*JointDistribution, error) {
	if len(t.Configs) < 5 {
		return nil, fmt.Errorf("%w: %d configurations, want 5 or more", ErrTooFew, len(t.Configs))
	}
	j := &JointDistribution{Models: t.Models, prior: 1}
	rows := make([][]float64, len(t.Configs))
	whole := true
	for i := range t.Configs {
		rows[i] = vector(&t.Configs[i])
		whole = whole && !slices.ContainsFunc(rows[i], math.IsNaN)
	}
	j.start(rows)
	tails := len(rows) > len(t.Models)
	for range steps {
		if err := j.step(ctx, rows, tails); err != nil {
			return nil, err
		}
		if whole && !tails {
			break // nothing is missing, all weigh the same
		}
	}
	return j, nil
}

// vector is a configuration as the distribution has it.
func vector(c *Config) []float64 {
	return append(slices.Clone(c.Log), math.Log2(float64(c.Threads)))
}

// start has all models slow or fast together.
func (j *JointDistribution) start(rows [][]float64) {
	d := len(rows[0])
	j.mean, j.rows, j.open = make([]float64, d), make([][]float64, d), make([]float64, d)
	for k := range d {
		sum, n := 0.0, 0.0
		for _, r := range rows {
			if !math.IsNaN(r[k]) {
				sum, n = sum+r[k], n+1
			}
		}
		j.mean[k] = sum / max(1, n)
		j.rows[k] = []float64{1, 0}
	}
	j.rows[d-1] = []float64{0, 1}
}

// step fills in what is missing and finds the distribution of the whole.
func (j *JointDistribution) step(ctx context.Context, rows [][]float64, tails bool) error {
	d, n := len(j.mean), len(rows)
	filled, weights, sum := make([][]float64, n), make([]float64, n), 0.0
	open := make([]float64, d)
	for i, r := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		filled[i], weights[i] = r, 1
		seen := measured(r)
		if tails || len(seen) < d {
			g, err := j.given(r, thinned(seen, asked))
			if err != nil {
				return err
			}
			filled[i] = slices.Clone(r)
			for k := range r {
				if math.IsNaN(r[k]) {
					filled[i][k] = g.mean(k)
					open[k] += g.variance(k) / float64(n+toward)
				}
			}
			if tails {
				weights[i] = (degrees + float64(len(g.seen))) / (degrees + g.distance)
			}
		}
		sum += weights[i]
	}
	mean, factors := make([]float64, d), make([][]float64, d)
	for k := range d {
		for i := range filled {
			mean[k] += weights[i] * filled[i][k] / sum
		}
		factors[k] = make([]float64, n)
		for i := range filled {
			factors[k][i] = (filled[i][k] - mean[k]) * math.Sqrt(weights[i]/float64(n+toward))
		}
	}
	j.mean, j.rows, j.open, j.prior = mean, shortened(factors), open, toward/float64(n+toward)
	return nil
}

// shortened are factors of the same products, no longer than there are of them:
// those of a Cholesky decomposition.
func shortened(factors [][]float64) [][]float64 {
	d := len(factors)
	if d >= len(factors[0]) {
		return factors
	}
	products := mat.NewSymDense(d, nil)
	for a := range d {
		for b := a; b < d; b++ {
			products.SetSym(a, b, floats.Dot(factors[a], factors[b]))
		}
		products.SetSym(a, a, products.At(a, a)*(1+1e-9)+1e-12)
	}
	chol, ok := lapack64.Potrf(products.RawSymmetric())
	if !ok {
		return factors
	}
	for k := range factors { // a column of the upper triangle
		factors[k] = make([]float64, d)
		for i := range k + 1 {
			factors[k][i] = chol.Data[i*chol.Stride+k]
		}
	}
	return factors
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

// thinned are at most n of some places, evenly among them, the last included.
func thinned(places []int, n int) []int {
	if len(places) <= n {
		return places
	}
	out := make([]int, n)
	for i := range out {
		out[i] = places[(i+1)*len(places)/n-1]
	}
	return out
}

// covariance of two models, or of one and the threads.
func (j *JointDistribution) covariance(a, b int) float64 {
	v := floats.Dot(j.rows[a], j.rows[b])
	if a == b {
		v += j.prior*own + j.open[a]
	}
	return v
}

// conditional is the distribution, given what was seen.
type conditional struct {
	*JointDistribution
	seen     []int
	chol     blas64.Triangular // of the covariance of what was seen
	solved   []float64         // its inverse times how far that was from its mean
	distance float64           // of what was seen from its mean, in covariances
}

func (j *JointDistribution) given(r []float64, seen []int) (*conditional, error) {
	g := &conditional{JointDistribution: j, seen: seen}
	cov := mat.NewSymDense(len(seen), nil)
	off := make([]float64, len(seen))
	for a, ka := range seen {
		off[a] = r[ka] - j.mean[ka]
		for b := a; b < len(seen); b++ {
			cov.SetSym(a, b, j.covariance(ka, seen[b]))
		}
	}
	var ok bool
	if g.chol, ok = lapack64.Potrf(cov.RawSymmetric()); !ok {
		return nil, fmt.Errorf("%w: the covariance of %d models is singular", ErrTable, len(seen))
	}
	g.solved = slices.Clone(off)
	v := blas64.Vector{N: len(seen), Data: g.solved, Inc: 1}
	blas64.Trsv(blas.Trans, g.chol, v)
	g.distance = floats.Dot(g.solved, g.solved)
	blas64.Trsv(blas.NoTrans, g.chol, v)
	return g, nil
}

// cross are the covariances of a model with what was seen.
func (g *conditional) cross(k int) []float64 {
	c := make([]float64, len(g.seen))
	for i, s := range g.seen {
		c[i] = g.covariance(s, k)
	}
	return c
}

func (g *conditional) mean(k int) float64 {
	return g.JointDistribution.mean[k] + floats.Dot(g.cross(k), g.solved)
}

func (g *conditional) variance(k int) float64 {
	c := g.cross(k)
	blas64.Trsv(blas.Trans, g.chol, blas64.Vector{N: len(c), Data: c, Inc: 1})
	return g.covariance(k, k) - floats.Dot(c, c)
}

// spread returns the factor on the variances by what was seen, as of Student's t: the farther
// a device is from the table, the less is known of its other latencies (Ding, "On the
// conditional distribution of the multivariate t distribution", 2016).
func (g *conditional) spread() float64 {
	return (degrees + g.distance) / (degrees + float64(len(g.seen)))
}

// Estimate is the logarithm of a latency, with its standard deviation.
type Estimate struct{ Log, Deviation float64 }

// Predict estimates every model of a configuration of which some were measured.
func (j *JointDistribution) Predict(c *Config, anchors []int) ([]Estimate, error) {
	r := vector(c)
	g, err := j.given(r, append(slices.Clone(anchors), len(r)-1))
	if err != nil {
		return nil, err
	}
	out := make([]Estimate, len(j.Models))
	for k := range out {
		out[k] = Estimate{g.mean(k), math.Sqrt(max(1e-8, g.spread()*g.variance(k)))}
	}
	for _, k := range anchors {
		out[k] = Estimate{Log: r[k]}
	}
	return out, nil
}

// Bounds of a search for anchors: of more places some are taken.
const (
	mostFrom  = 128
	mostAbout = 256
)

// Anchors returns the models to measure, out of some and in addition to the known ones, that
// leave the least doubt about others: each time the one that lessens the sum of these variances
// most (Krause, Singh and Guestrin, "Near-Optimal Sensor Placements in Gaussian Processes",
// JMLR 2008).
func (j *JointDistribution) Anchors(ctx context.Context, known, from, about []int, n int) ([]int, error) {
	from, about = thinned(from, mostFrom), thinned(about, mostAbout)
	places := slices.Concat(about, from, known, []int{len(j.mean) - 1})
	left := mat.NewSymDense(len(places), nil) // what of the covariance is open
	for a, ka := range places {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for b := a; b < len(places); b++ {
			left.SetSym(a, b, j.covariance(ka, places[b]))
		}
	}
	tell := func(at int) { // what is measured there
		v := mat.NewVecDense(len(places), mat.Col(nil, at, left))
		left.SymRankOne(left, -1/max(1e-12, left.At(at, at)), v)
	}
	for at := len(about) + len(from); at < len(places); at++ {
		tell(at)
	}
	var chosen []int
	for range min(n, len(from)) {
		best, most := -1, 0.0
		for at := len(about); at < len(about)+len(from); at++ {
			gain := 0.0
			for b := range about {
				gain += left.At(b, at) * left.At(b, at)
			}
			if gain /= left.At(at, at); left.At(at, at) > 1e-9 && gain > most {
				best, most = at, gain
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, places[best])
		tell(best)
	}
	return chosen, nil
}
