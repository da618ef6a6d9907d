package progress

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/stats"
)

// Weights of what a log says of its end.
const (
	leftWeight   = 0.5
	plainWeight  = 0.3
	finishWeight = 0.45
)

var (
	notLetters = regexp.MustCompile(`[^A-Za-z]+`)
	lineHead   = regexp.MustCompile(`^[\s@\[T]*I?$`)
)

// durations returns the durations and times of day of a line as numbers of seconds.
func (s *scanner) durations() []number {
	var found []number
	for i := range s.spans {
		p := &s.spans[i]
		left := string(s.masked[:p.begin])
		words := notLetters.ReplaceAllString(left, " ")
		key := fmt.Sprintf("\x00%s %v %v", words[max(0, len(words)-60):], p.left, p.ends)
		found = append(found, number{key: key, left: left, value: p.seconds, span: p})
	}
	return found
}

// ends returns the choices of a log's own remaining or finishing time: a remaining time is
// believed while it falls by about a second each second.
func (r *Reader) ends() []choice {
	var found []choice
	offset, hasClock := r.clockOffset()
	for _, c := range r.spans() {
		all := dropUntimed(c.points)
		recent := all
		for len(recent) > 5 && recent[0].at < (r.times.now+r.times.begin)/2 {
			recent = recent[1:]
		}
		if len(recent) < 5 {
			continue
		}
		slope, fit := slopeOf(recent)
		switch last := recent[len(recent)-1]; {
		case c.span.ends && hasClock && math.Abs(slope) < 0.4 && last.value-offset > r.times.now:
			for i, p := range all {
				all[i].value = max(0, p.value-offset-p.at)
			}
			found = append(found, choice{how: finishing, left: all, total: 100, score: finishWeight})
		case slope < -0.6 && slope > -1.6 && fit > 0.9:
			weight := plainWeight
			if c.span.left {
				weight = leftWeight
			}
			found = append(found, choice{how: remaining, left: all, total: 100, score: weight})
		}
	}
	return found
}

// spans returns the counters of durations, in the order of their places.
func (r *Reader) spans() []*counter {
	var spans []*counter
	for _, c := range r.counters {
		if c.span != nil {
			spans = append(spans, c)
		}
	}
	slices.SortFunc(spans, func(a, b *counter) int { return strings.Compare(a.key, b.key) })
	return spans
}

// clockOffset returns the time of day at the start of the run; false if the times at the heads
// of the lines are none, or simulated ones.
func (r *Reader) clockOffset() (float64, bool) {
	for _, c := range r.spans() {
		clock := dropUntimed(c.points)
		if !c.span.clock || c.span.left || !lineHead.MatchString(c.left) || len(clock) < 3 {
			continue
		}
		if slope, _ := slopeOf(clock); !(slope >= 0.5 && slope <= 2) {
			continue
		}
		offsets := make([]float64, len(clock))
		for i, p := range clock {
			offsets[i] = p.value - p.at
		}
		return stats.Sort(offsets).NextRank(0.5), true
	}
	return 0, false
}

// slopeOf returns the least-squares slope of points and their squared correlation.
func slopeOf(s []point) (slope, fit float64) {
	var t, v []float64
	for _, p := range s {
		t = append(t, p.at)
		v = append(v, p.value)
	}
	_, slope = stat.LinearRegression(t, v, nil, false)
	fit = stat.Correlation(t, v, nil)
	return slope, fit * fit
}
