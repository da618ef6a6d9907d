package perfmodel

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/foretime/foretime/shared/stats"
)

// powerLaw is log t = at + Σ b·(x - mean), x the features of the sizes, 0 where there
// are fewer.
type powerLaw struct {
	mean, b []float64
	at      float64
	fixed   bool // no size varied enough: the law is a constant
}

const (
	// minSpread is how far the logarithm of a size must spread, as a standard
	// deviation, for its exponent to mean anything: sizes that differ by a tenth
	// from end to end, as StarPU asks of its regressions.
	minSpread = 0.025
	// ridge is the share of each feature's own spread that is added to it, so that
	// sizes which vary together share their exponent.
	ridge = 1e-4
	// outlying is how many deviations from the middle a run must lie for the law
	// not to be fitted to it.
	outlying = 3
)

// fitRobust fits to samples, and again without those that lay far from the first
// law, of which it tells the number.
func fitRobust(samples []sample, width int) (l powerLaw, outliers int) {
	l = fitPower(samples, width)
	misses := make([]float64, len(samples))
	for i := range samples {
		misses[i] = samples[i].y - l.log(samples[i].f.x)
	}
	sorted := stats.Sort(slices.Clone(misses))
	middle, far := sorted.Median(), outlying*1.4826*sorted.MAD()
	plain := make([]sample, 0, len(samples))
	for i, r := range misses {
		if math.Abs(r-middle) <= far {
			plain = append(plain, samples[i])
		}
	}
	return fitPower(plain, width), len(samples) - len(plain)
}

// fitPower is least squares over samples, of which there is one.
func fitPower(samples []sample, width int) powerLaw {
	l := powerLaw{mean: make([]float64, width), b: make([]float64, width), fixed: true}
	n := float64(len(samples))
	for i := range samples {
		l.at += samples[i].y / n
		for j, x := range samples[i].f.x {
			l.mean[j] += x / n
		}
	}
	square, right := mat.NewSymDense(max(width, 1), nil), mat.NewVecDense(max(width, 1), nil)
	away := make([]float64, width)
	for i := range samples {
		for j := range away {
			away[j] = feature(samples[i].f.x, j) - l.mean[j]
			right.SetVec(j, right.AtVec(j)+away[j]*(samples[i].y-l.at))
			for k := range j + 1 {
				square.SetSym(j, k, square.At(j, k)+away[j]*away[k])
			}
		}
	}
	for j := range width {
		spread := square.At(j, j)
		if spread > minSpread*minSpread*n {
			l.fixed = false
			square.SetSym(j, j, spread*(1+ridge))
			continue
		}
		for k := range width { // no exponent
			square.SetSym(j, k, 0)
		}
		square.SetSym(j, j, 1)
		right.SetVec(j, 0)
	}
	var factor mat.Cholesky
	if l.fixed || !factor.Factorize(square) || factor.SolveVecTo(mat.NewVecDense(width, l.b), right) != nil {
		l.fixed = true
		clear(l.b)
	}
	return l
}

// log is the logarithm of the seconds.
func (l *powerLaw) log(x []float64) float64 {
	v := l.at
	for j, b := range l.b {
		v += b * (feature(x, j) - l.mean[j])
	}
	return v
}

func feature(x []float64, j int) float64 {
	if j < len(x) {
		return x[j]
	}
	return 0
}
