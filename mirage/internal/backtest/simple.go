package backtest

import (
	"math"

	"github.com/foretime/foretime/shared/stats"
)

// The simple forecasts: what a person would look at. Their order means nothing.
const (
	byUser  = iota // median of the user's latest waits
	byShape        // of the user's latest jobs of that shape
	byClass        // of anybody's jobs of such size and limit
	byAll          // of anybody's
	byList         // when it would start if the queue were served as a list
	simple
)

// advice are their waits in seconds; NaN where there is none.
type advice [simple]float64

// The number of waits in the medians. 50 for the class gave 6 % more error on wagap.
const (
	ofUser  = 20
	ofShape = 5
	ofClass = 100
	ofAll   = 100
)

// median of the latest waits of a group, or else another value.
func (p *group) median(n int, otherwise float64) float64 {
	if len(p.waits) == 0 {
		return otherwise
	}
	return stats.Median(tail(p.waits, n))
}

// advise returns the simple forecasts for a job of some groups that would start
// after listed seconds as the queue is served.
func (g groups) advise(listed float64) (o advice) {
	o[byAll] = g[ofAnybody].median(ofAll, 0)
	o[byClass] = g[ofItsClass].median(ofClass, o[byAll])
	user := g[ofItsUser]
	o[byUser] = user.median(ofUser, o[byClass])
	o[byShape] = g[ofItsShape].median(ofShape, user.median(ofShape, o[byClass]))
	o[byList] = listed
	return o
}

// mean of the advice on the transformed scale: the forecast of a log too short for
// trees, and what trees correct in a longer one.
func (o advice) mean() float64 {
	sum, n := 0.0, 0.0
	for _, s := range o {
		if !math.IsNaN(s) {
			sum += transformed(s)
			n++
		}
	}
	return sum / n
}

// transformed is the scale on which advice is averaged and trees are fitted:
// between that of hours, where the longest waits decide alone, and that of
// their logarithms, where they do not count.
func transformed(seconds float64) float64 { return math.Pow(max(seconds, 0)/60+1, power) }

// inverse is the inverse of transformed.
func inverse(e float64) float64 { return 60 * (math.Pow(max(e, 1), 1/power) - 1) }

// power gave the least error of 0.2, 0.3, 0.5 and 1 on the first part of three logs.
const power = 0.3
