package perfmodel

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/foretime/foretime/shared/stats"
)

// powerLaw is log t = at + Σ b·(x - mean), x the features of the sizes, 0 where there
// are fewer.
type powerLaw struct {
	mean, b   []float64
	intercept float64
	fixed     bool // no size varied enough: the law is a constant
}

const (
	// minSpread is the smallest standard deviation of the logarithm of a size that gives its
	// exponent a meaning: sizes that differ by a tenth from end to end, as StarPU demands of
	// its regressions.
	minSpread = 0.025
	// usualExponent is the prior standard deviation of exponents around 0: ridge regression as
	// a Bayesian prior.
	usualExponent = 2
	// outlying is the number of deviations from the middle beyond which a run is left out of
	// the fit.
	outlying = 3
)

// fitRobust fits to samples, at least one, and again without those far from the first law. The
// limit is estimated from a few hundred of them.
func fitRobust(samples []sample, width int) powerLaw {
	first, _ := fitPower(samples, width, 0, func(*sample) bool { return true })
	misses := make([]float64, 0, 256)
	for i := 0; i < len(samples); i += 1 + len(samples)/256 {
		misses = append(misses, samples[i].y-first.log(samples[i].f.x))
	}
	sorted := stats.Sort(misses)
	middle, deviation := sorted.Median(), 1.4826*sorted.MAD()
	l, n := fitPower(samples, width, deviation, func(s *sample) bool {
		return math.Abs(s.y-first.log(s.f.x)-middle) <= outlying*deviation
	})
	if 2*n < len(samples) { // most are alike to the last digit
		return first
	}
	return l
}

// fitPower fits by least squares to the plain samples, and returns their number. Their
// deviation from the law weighs them against the prior of the exponents; 0 takes the deviation
// of the samples.
func fitPower(samples []sample, width int, deviation float64, plain func(*sample) bool) (l powerLaw, n int) {
	l = powerLaw{mean: make([]float64, width), b: make([]float64, width), fixed: true}
	var used []*sample
	for i := range samples {
		if s := &samples[i]; plain(s) {
			used = append(used, s)
			l.intercept += s.y
			for j, x := range s.f.x {
				l.mean[j] += x
			}
		}
	}
	n = len(used)
	l.intercept /= float64(n)
	for j := range l.mean {
		l.mean[j] /= float64(n)
	}
	var square [maxFeatures][maxFeatures]float64
	var right, away [maxFeatures]float64
	variance := deviation * deviation
	for _, s := range used {
		if deviation == 0 {
			variance += (s.y - l.intercept) * (s.y - l.intercept) / float64(n)
		}
		for j := range width {
			away[j] = feature(s.f.x, j) - l.mean[j]
			right[j] += away[j] * (s.y - l.intercept)
			for k := range j + 1 {
				square[j][k] += away[j] * away[k]
			}
		}
	}
	l.solve(&square, &right, minSpread*minSpread*float64(n), variance/(usualExponent*usualExponent)+1e-9)
	return l, n
}

// solve finds the exponents of the features whose spread is above the least, with
// more added to each.
func (l *powerLaw) solve(square *[maxFeatures][maxFeatures]float64, right *[maxFeatures]float64, least, more float64) {
	var varied []int
	for j := range l.b {
		if square[j][j] > least {
			varied = append(varied, j)
		}
	}
	if len(varied) == 0 {
		return
	}
	a, b := mat.NewSymDense(len(varied), nil), mat.NewVecDense(len(varied), nil)
	for i, j := range varied {
		for k, m := range varied[:i+1] {
			a.SetSym(i, k, square[j][m])
		}
		a.SetSym(i, i, square[j][j]+more)
		b.SetVec(i, right[j])
	}
	var factor mat.Cholesky
	if !factor.Factorize(a) || factor.SolveVecTo(b, b) != nil {
		return
	}
	l.fixed = false
	for i, j := range varied {
		l.b[j] = b.AtVec(i)
	}
}

// log returns the logarithm of the seconds.
func (l *powerLaw) log(x []float64) float64 {
	v := l.intercept
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
