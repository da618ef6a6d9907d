package forecast

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/stats"
)

// law holds what the experts know in addition to the present loads.
type law struct {
	Period         int
	intercept      float64 // what the autoregression adds to its lags
	b              []float64
	minLog, maxLog float64 // logarithms that no forecast leaves
}

// seasons is the number of past periods in the seasonal median: chosen, like
// towards and the factor in period, on the loads of Sam(oa)² and on synthetic ones.
const seasons = 8

// fit fits to the logarithms of loads, of which there is one.
func fit(logs []float64) law {
	l := law{Period: period(logs)}
	l.minLog, l.maxLog = slices.Min(logs)-1, slices.Max(logs)+1 // a factor of e beyond what was seen
	l.fitAR(logs)
	return l
}

// period returns the lag up to order at which the series is closest to itself. A
// longer one must be clearly closer than a shorter one, or its multiples win by
// chance.
func period(logs []float64) int {
	best, least := 1, math.Inf(1)
	for lag := 1; lag <= order && len(logs)-lag >= 2; lag++ {
		sum := 0.0
		for i := lag; i < len(logs); i++ {
			sum += math.Abs(logs[i] - logs[i-lag])
		}
		if d := sum / float64(len(logs)-lag); d < 0.6*least {
			best, least = lag, d
		}
	}
	return best
}

// answer returns the logarithm that follows logs, NaN where the expert sleeps. The first
// known ones came true and the others are forecasts.
func (l *law) answer(e expert, logs []float64, known int) float64 {
	n := len(logs)
	y := math.NaN()
	switch {
	case n < l.Period:
		return y
	case e == periodic:
		return logs[n-l.Period]
	case e == seasonal:
		var same []float64
		for i := n - l.Period; i >= 0 && len(same) < seasons; i -= l.Period {
			if i < known {
				same = append(same, logs[i])
			}
		}
		if len(same) > 0 {
			return stats.Median(same)
		}
		return y
	case l.b != nil && n >= order:
		y = l.intercept
		for j, b := range l.b {
			y += b * logs[n-1-j]
		}
	}
	return min(max(y, l.minLog), l.maxLog)
}

// towards is the strength with which the autoregression is drawn to "as one period ago", as a
// share of the lags' own spread: a few rows cannot make it explode.
const towards = 0.0005

// fitAR fits log load = at + Σ b·lag by least squares, drawn towards the season. b
// stays nil where there are too few rows.
func (l *law) fitAR(logs []float64) {
	p, n := order, len(logs)-order
	if n < p+3 {
		return
	}
	prior := make([]float64, p)
	prior[l.Period-1] = 1
	mean, spread := stat.MeanVariance(logs, nil)
	x, y := mat.NewDense(n, p+1, nil), mat.NewVecDense(n, nil)
	for i := range n {
		x.Set(i, p, 1)
		rest := logs[p+i]
		for j := range p {
			x.Set(i, j, logs[p+i-1-j]-mean)
			rest -= prior[j] * logs[p+i-1-j]
		}
		y.SetVec(i, rest)
	}
	var square mat.SymDense
	var right, move mat.VecDense
	square.SymOuterK(1, x.T())
	right.MulVec(x.T(), y)
	for j := range p {
		square.SetSym(j, j, square.At(j, j)+towards*float64(n)*spread+1e-12)
	}
	var factor mat.Cholesky
	if !factor.Factorize(&square) || factor.SolveVecTo(&move, &right) != nil {
		return
	}
	l.b, l.intercept = prior, move.AtVec(p)
	for j := range l.b {
		l.b[j] += move.AtVec(j)
		l.intercept -= move.AtVec(j) * mean
	}
}
