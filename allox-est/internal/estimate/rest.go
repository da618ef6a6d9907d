package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Reasons to decline an answer.
var (
	// ErrUnsure warns that what was seen says too little of the rest.
	ErrUnsure = errors.New("not enough to tell")
	// ErrSchedule is in a refusal: the work itself changes on the way.
	ErrSchedule = errors.New("a schedule may change the work")
)

// Rest is the prediction for a whole run from its first marks, in their unit of time.
type Rest struct {
	// Total is from the start of the clock of the marks to unit number of. Where
	// Refused is not nil only its value counts: the last level goes on.
	Total   uncertainty.Prediction
	Refused error

	totals []float64 // drawn, ascending
}

// changed is the largest ratio of two levels within a run that still allows an early
// estimate: the interval covers less than a quarter. From answered of the units on there
// is one after a change too.
const (
	changed  = 1.25
	answered = 0.6
)

// Continue predicts the time of a run up to unit number of, from its marks so far and from
// other runs of the same job for stages not yet met. At least 3 laps are needed. Errors wrap
// ErrTooFew, ErrBadRun or ErrStages.
func Continue(marks []progress.Mark, others [][]progress.Mark, job Job, level float64) (r Rest, err error) {
	t, err := traceOf(marks, job)
	if err != nil {
		return r, err
	}
	if len(t.laps) < 3 {
		return r, fmt.Errorf("%w: %d laps, want at least 3", ErrTooFew, len(t.laps))
	}
	ts := []trace{t}
	for _, o := range others {
		more, err := traceOf(o, job)
		if err != nil {
			return r, err
		}
		more.settled = true
		ts = append(ts, more)
	}
	last := marks[len(marks)-1]
	if last.Number > float64(job.Epochs) {
		return r, fmt.Errorf("%w: %v of %d units done", ErrTooFew, last.Number, job.Epochs)
	}
	if err := job.checkStages(ts); err != nil {
		return r, err
	}
	c := findCourse(ts, job)
	steps := c.steps
	hasLevels := len(job.Stages) == 0 && len(others) == 0 && steps > changed
	if hasLevels {
		if t, err = traceOf(marks[c.lastLevel(t, marks):], job); err != nil {
			return r, err
		}
		ts = []trace{t}
		c = findCourse(ts, job)
	}
	m := newModel(model{ts: ts, course: &c, job: job, seen: last.Number, alone: true, level: level})
	p, _, totals := m.predict(wallTime, nil) // a past says whether the level changes again
	for i := range totals {
		totals[i] += last.Seconds
	}
	r.Total = Shift(p, last.Seconds)
	r.totals = totals
	if len(job.Stages) > 0 || last.Number >= answered*float64(job.Epochs) {
		return r, nil
	}
	slope, middle := c.findTrend(ts)
	toCome := (last.Number + float64(job.Epochs)) / 2
	switch {
	case hasLevels:
		r.Refused = fmt.Errorf("%w: lap times are on levels %.0f %% apart", ErrSchedule, 100*(steps-1))
	case math.Abs(slope)*(toCome-middle) > changed-1:
		r.Refused = fmt.Errorf("%w: %ss change by %+.2g %% each", ErrSchedule, job.unit(), 100*slope)
	}
	return r, nil
}

// lastLevel returns the mark at which the last eighth of a run's laps begins, whose level goes
// on; three laps at least.
func (c *course) lastLevel(t trace, marks []progress.Mark) int {
	laps := t.laps[min(c.warm, len(t.laps)-3):]
	begin := laps[len(laps)-max(3, len(laps)/8)].from
	return slices.IndexFunc(marks, func(m progress.Mark) bool { return m.Number >= begin })
}

// Shift returns a prediction with so many seconds added.
func Shift(p uncertainty.Prediction, seconds float64) uncertainty.Prediction {
	p.Value += seconds
	p.Low += seconds
	p.High += seconds
	return p
}

// traceOf cuts marks into laps.
func traceOf(marks []progress.Mark, job Job) (trace, error) {
	t := trace{}
	for i, m := range marks {
		if !(m.Seconds >= 0) || math.IsInf(m.Seconds, 0) || i > 0 && (m.Seconds < marks[i-1].Seconds || m.Number < marks[i-1].Number) {
			return t, fmt.Errorf("%w: mark %d: unit %v at %v s", ErrBadRun, i+1, m.Number, m.Seconds)
		}
	}
	if len(marks) < 2 {
		return t, nil
	}
	last := marks[len(marks)-1]
	t = newTrace(journal.Run{Marks: marks, Wall: last.Seconds}, job)
	t.length = last.Number - marks[0].Number
	return t, nil
}
