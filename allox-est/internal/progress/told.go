package progress

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
)

// told holds what a log itself says of its end: durations by their place in the lines, and
// the clock of its lines.
type told struct {
	series map[string]*series
	clock  []point
}

// series are the durations of one place.
type series struct {
	span
	points []point
}

// seriesCount bounds the places, seriesPoints their values.
const (
	seriesCount  = 1000
	seriesPoints = 200
)

var (
	notLetters = regexp.MustCompile(`[^A-Za-z]+`)
	lineHead   = regexp.MustCompile(`^[\s@\[T]*I?$`)
)

// take takes in the spans of a line.
func (d *told) take(s *scanner, at float64) {
	if at < 0 || len(s.spans) == 0 {
		return
	}
	if d.series == nil {
		d.series = map[string]*series{}
	}
	for _, found := range s.spans {
		before := s.masked[:found.begin]
		if found.clock && !found.left && (len(d.clock) == 0 || lineHead.Match(before)) {
			d.clock = thin(append(d.clock, point{at: at, value: found.seconds}), seriesPoints)
		}
		words := notLetters.ReplaceAll(before, []byte{' '})
		next := &series{span: found}
		key := fmt.Sprintf("%s %v %v", words[max(0, len(words)-60):], found.left, found.ends)
		if old := d.series[key]; old != nil {
			next = old
		} else if len(d.series) >= seriesCount {
			continue
		}
		d.series[key] = next
		next.points = thin(append(next.points, point{at: at, value: found.seconds}), seriesPoints)
	}
}

// Weights of what a log says of its end.
const (
	leftWeight   = 0.5
	plainWeight  = 0.3
	finishWeight = 0.45
)

// ends returns the choices of a log's own remaining or finishing time: a remaining time is
// believed while it falls by about a second each second.
func (d *told) ends(t times) []choice {
	var found []choice
	offset, hasClock := d.offset()
	for _, key := range slices.Sorted(maps.Keys(d.series)) {
		p := d.series[key]
		all := p.points
		recent := all
		for len(recent) > 5 && recent[0].at < (t.now+t.begin)/2 {
			recent = recent[1:]
		}
		if len(recent) < 5 || t.now-recent[len(recent)-1].at > 3*longestGap(recent) {
			continue
		}
		slope, fit := slopeOf(recent)
		switch last := recent[len(recent)-1]; {
		case p.ends && hasClock && math.Abs(slope) < 0.4 && last.value-offset > t.now:
			ends := make([]point, len(all))
			for i, q := range all {
				ends[i] = point{at: q.at, value: max(0, q.value-offset-q.at)}
			}
			found = append(found, choice{how: finishing, left: ends, total: 100, score: finishWeight})
		case slope < -0.6 && slope > -1.6 && fit > 0.9 && risesLittle(all):
			weight := plainWeight
			if p.left {
				weight = leftWeight
			}
			found = append(found, choice{how: remaining, left: all, total: 100, score: weight})
		}
	}
	return found
}

// offset returns the time of day at the start of the run; false if the times in the lines are
// none, or simulated ones.
func (d *told) offset() (float64, bool) {
	if len(d.clock) < 3 {
		return 0, false
	}
	if slope, _ := slopeOf(d.clock); slope < 0.5 || slope > 2 {
		return 0, false
	}
	offsets := make([]float64, len(d.clock))
	for i, p := range d.clock {
		offsets[i] = p.value - p.at
	}
	slices.Sort(offsets)
	return offsets[len(offsets)/2], true
}

// risesLittle reports whether a remaining time never jumps up by half.
func risesLittle(s []point) bool {
	for i := 1; i < len(s); i++ {
		if s[i].value > 1.5*s[i-1].value+2 {
			return false
		}
	}
	return true
}

func longestGap(s []point) (gap float64) {
	for i := 1; i < len(s); i++ {
		gap = max(gap, s[i].at-s[i-1].at)
	}
	return gap
}

// slopeOf returns the least-squares slope of points and their squared correlation.
func slopeOf(s []point) (slope, fit float64) {
	var t, v, tt, vv, tv float64
	n := float64(len(s))
	for _, p := range s {
		t += p.at / n
		v += p.value / n
	}
	for _, p := range s {
		tt += (p.at - t) * (p.at - t)
		vv += (p.value - v) * (p.value - v)
		tv += (p.at - t) * (p.value - v)
	}
	if tt == 0 || vv == 0 {
		return 0, 0
	}
	return tv / tt, tv * tv / (tt * vv)
}
