package history

import (
	"math"

	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/stats"
)

// Pace describes the speed of a run so far.
type Pace struct {
	Recent float64 // seconds of a unit among the last fifth of the units done
	// Trend is the logarithm of the ratio of two medians of a unit's time: among the last
	// fifth of the units, and among their first half. 0 in a run of fewer than five laps.
	Trend float64
}

// Bounds of what is recent and what is early, as shares of the units done.
const (
	recentFrom = 0.8
	earlyTo    = 0.5
	trendLaps  = 5
)

// PaceOf returns the pace of a run from its marks; false if no time passed between them.
func PaceOf(marks []progress.Mark) (p Pace, ok bool) {
	if len(marks) < 2 {
		return p, false
	}
	first, last := marks[0], marks[len(marks)-1]
	done := last.Number - first.Number
	begin := firstAt(marks, first.Number+recentFrom*done)
	if begin == len(marks)-1 {
		begin--
	}
	units := last.Number - marks[begin].Number
	p.Recent = (last.Seconds - marks[begin].Seconds) / units
	if !(p.Recent > 0) || math.IsInf(p.Recent, 0) {
		return p, false
	}
	if len(marks) > trendLaps {
		early := firstAt(marks, first.Number+earlyTo*done)
		p.Trend = math.Log(medianUnit(marks[begin:]) / medianUnit(marks[:max(2, early+1)]))
	}
	if math.IsNaN(p.Trend) || math.IsInf(p.Trend, 0) {
		p.Trend = 0 // the marks are finer than the clock
	}
	return p, true
}

// firstAt returns the first mark at which so many units were done.
func firstAt(marks []progress.Mark, number float64) int {
	i := 0
	for i < len(marks)-1 && marks[i].Number < number {
		i++
	}
	return i
}

// medianUnit returns the median time of a unit between marks.
func medianUnit(marks []progress.Mark) float64 {
	var rates []float64
	for i := 1; i < len(marks); i++ {
		if units := marks[i].Number - marks[i-1].Number; units > 0 {
			rates = append(rates, (marks[i].Seconds-marks[i-1].Seconds)/units)
		}
	}
	if len(rates) == 0 {
		return 0
	}
	return stats.Median(rates)
}

// Shape is a finished run at a share of its units.
type Shape struct {
	Block string // runs of one block count as one
	Pace  Pace
	Rest  float64 // seconds of a unit after that
	// SameScript reports that the run had the script of the run to be predicted.
	SameScript bool
}

// Whole returns the shape of a finished run of which nothing is used but its duration.
func Whole(block string, seconds float64, sameScript bool) Shape {
	return Shape{Block: block, Pace: Pace{Recent: 1}, Rest: seconds, SameScript: sameScript}
}

// Stretch returns the ratio of a unit's time after the share to its recent time before it.
func (s Shape) Stretch() float64 { return s.Rest / s.Pace.Recent }

// likeTrend is the difference of trends at which two runs count as alike with 60 %, and
// unlike the weight of a run that is not alike. Chosen on every other series of steps-azure
// and steps-nanogpt, checked on the others: DESIGN.md.
const (
	likeTrend = 0.05
	unlike    = 0.01
)

// Likeness returns how alike the course of a run at a pace is to that of the shape's run, 0 to 1.
func (s Shape) Likeness(p Pace) float64 {
	z := (p.Trend - s.Pace.Trend) / likeTrend
	return math.Exp(-z * z / 2)
}

// Weighted is a shape's rest in seconds for another run, and its weight.
type Weighted struct{ Rest, Weight float64 }

// LeastBlocks is the least number of blocks that make a past, unless a run had the same script.
const LeastBlocks = 3

// Weigh returns the rests that past runs suggest for a run at a pace with so many units to
// come; none if the past is too short. Blocks weigh at most 1 each. Alike is the sum of the
// weights of runs that are alike; infinite if one of them had the same script, whose changes of
// the work are then known.
func Weigh(past []Shape, p Pace, units float64) (rests []Weighted, alike float64) {
	blocks := map[string]float64{}
	known := false
	for _, s := range past {
		blocks[s.Block]++
		known = known || s.SameScript
	}
	if len(blocks) < LeastBlocks && !known {
		return nil, 0
	}
	for _, s := range past {
		like := s.Likeness(p)
		rests = append(rests, Weighted{p.Recent * units * s.Stretch(), (like + unlike) / blocks[s.Block]})
		alike += like / blocks[s.Block]
	}
	if known {
		alike = math.Inf(1)
	}
	return rests, alike
}
