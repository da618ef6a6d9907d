package estimate

import (
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/mark"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Reasons to decline an answer.
var (
	// ErrUnsure warns that what was seen says too little of the rest.
	ErrUnsure = errors.New("not enough to tell")
	// ErrSchedule is in a refusal: the work itself changes on the way.
	ErrSchedule = errors.New("a schedule may change the work")
)

// Rest is what the first marks of a run say of all of it, in their unit of time.
type Rest struct {
	// Total is from the start of the clock of the marks to unit number of. Where
	// Refused is not nil only its value counts.
	Total   uncertainty.Prediction
	Refused error

	totals []float64 // drawn, ascending
}

// changed is the largest ratio of two levels within a run that still allows an estimate:
// the interval covers less than a quarter.
const changed = 1.25

// Continue predicts how long a run takes up to unit number of, from its marks so
// far and from others of the same job that tell of stages not yet met. At least 3
// laps are needed. Errors wrap ErrTooFew, ErrBadRun or ErrStages.
func Continue(marks []mark.Mark, others [][]mark.Mark, job Job, level float64) (r Rest, err error) {
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
	c := look(ts, job)
	m := newModel(model{ts: ts, course: &c, job: job, seen: last.Number, alone: true, level: level})
	p, _, totals := m.predict(wallTime, nil)
	for i := range totals {
		totals[i] += last.Seconds
	}
	p.Value, p.Low, p.High = p.Value+last.Seconds, p.Low+last.Seconds, p.High+last.Seconds
	r.Total, r.totals = p, totals
	switch {
	case len(job.Stages) > 0, last.Number == float64(job.Epochs):
	case c.steps > changed:
		r.Refused = fmt.Errorf("%w: lap times are on levels %.0f %% apart", ErrSchedule, 100*(c.steps-1))
	case c.slope != 0 && math.Abs(m.grown(c.slope)-1) > changed-1:
		r.Refused = fmt.Errorf("%w: %ss change by %+.2g %% each", ErrSchedule, job.unit(), 100*c.slope)
	}
	return r, nil
}

// traceOf cuts marks into laps.
func traceOf(marks []mark.Mark, job Job) (trace, error) {
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
	t = cut(journal.Run{Marks: marks, Wall: last.Seconds}, job)
	t.length = last.Number - marks[0].Number
	return t, nil
}
