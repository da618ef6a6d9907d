package perfmodel

import "math"

// maxLag is the longest period, in iterations, of times that alternate.
const maxLag = 4

// rounds holds the seconds of the last runs of one combination of sizes in each of the last
// iterations.
type rounds [maxLag + 1]struct {
	number int // of the iteration, from 1
	runs   int
	last   [3]float64
}

// add adds a run of an iteration, and reports whether it is the first one.
func (r *rounds) add(iteration int, seconds float64) (first bool) {
	if iteration <= 0 {
		return false
	}
	one := &r[iteration%len(r)]
	if first = one.number != iteration; first {
		one.number, one.runs = iteration, 0
	}
	one.last[one.runs%len(one.last)] = seconds
	one.runs++
	return first
}

// laggedMedian returns the logarithm of the middle of the last three runs of the iteration that
// is a number of iterations back, which one stall does not move; NaN if it had no run or the
// number is 0.
func (r *rounds) laggedMedian(iteration, lag int) float64 {
	if lag == 0 || iteration <= lag {
		return math.NaN()
	}
	one := &r[(iteration-lag)%len(r)]
	switch {
	case one.number != iteration-lag:
		return math.NaN()
	case one.runs < len(one.last):
		return math.Log(one.last[one.runs-1])
	}
	return math.Log(medianOf3(one.last))
}

// medianOf3 returns the middle of three numbers.
func medianOf3(x [3]float64) float64 {
	return max(min(x[0], x[1]), min(x[2], max(x[0], x[1])))
}

// lags holds the mean errors of recent runs against those of the same sizes some iterations
// before, by lag.
type lags struct {
	runs [maxLag + 1]int
	miss [maxLag + 1]float64
}

const (
	lagMemory = 64 // first runs over which errors are averaged
	lagRuns   = 16 // from which on they count
)

// add adds the errors of the first run of an iteration.
func (l *lags) add(r *rounds, iteration int, y float64) {
	for lag := 1; lag <= maxLag; lag++ {
		if miss := math.Abs(y - r.laggedMedian(iteration, lag)); !math.IsNaN(miss) {
			l.runs[lag]++
			l.miss[lag] += (miss - l.miss[lag]) / float64(min(l.runs[lag], lagMemory))
		}
	}
}

// best returns the lag with the smallest error, 0 unless it is clearly smaller than that of
// the iteration before.
func (l *lags) best() (best int) {
	least := 0.5 * l.miss[1]
	for lag := 2; lag <= maxLag; lag++ {
		if l.runs[lag] >= lagRuns && l.miss[lag] < least {
			best, least = lag, 0.9*l.miss[lag] // a multiple of the period is as good
		}
	}
	return best
}

// lag returns the period of the function's times in iterations, 0 if they do not alternate: a
// function with few runs follows all functions.
func (e *Entry) lag() int {
	if e.lags.runs[1] < lagRuns {
		return e.model.lags.best()
	}
	return e.lags.best()
}
