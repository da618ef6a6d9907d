package follow

import (
	"errors"
	"math"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/timing"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is the level of the intervals.
const Level = 0.95

// ErrWithinFirst refuses an interval while all marks are within one unit: its start is slow,
// and what comes at its end, such as an evaluation, is not known.
var ErrWithinFirst = errors.New("no whole unit has been seen")

// Tracker follows one run.
type Tracker struct {
	Job   estimate.Job // Epochs may be 0 if the run's output contains them
	Past  history.Past // finished runs of the same job; empty where none is known
	Ended bool         // the run has: until then its last unit says nothing of its end
	first *uncertainty.Prediction
	last  progress.Mark // at the last look
	ended bool
	open  bool // the output contains the length
}

// Update holds the state after a mark. Times are in seconds.
type Update struct {
	Done    float64 `json:"epochs_done"`
	Epochs  int     `json:"epochs"`
	Least   float64 `json:"least_epochs,omitempty"` // where Epochs is a maximum, or may be one too many
	Elapsed float64 `json:"elapsed_seconds"`        // since the run began, or since it was first looked at
	// Left is the time still to come, Total that with Elapsed; nil where the marks
	// are too few.
	Left  *uncertainty.Prediction `json:"left_seconds"`
	Total *uncertainty.Prediction `json:"total_seconds"`
	// Refused says why nothing is known of the rest; the interval does not count then.
	Refused string `json:"refused,omitempty"`
	// NotEnough says that so much is open that only the interval counts, or not even it.
	NotEnough bool `json:"not_enough_to_tell,omitempty"`
	// Drifted says that Total has left the first interval given.
	Drifted bool `json:"left_first_interval,omitempty"`
}

// Expect returns what the durations of past runs say of a run that has taken so many seconds
// and has shown no progress; false without a past.
func (t *Tracker) Expect(elapsed float64) (u Update, ok bool) {
	total, ok := t.Past.Duration(elapsed, float64(t.Job.Epochs), Level)
	if !ok {
		return u, false
	}
	u = Update{Epochs: t.Job.Epochs, Elapsed: elapsed}
	u.setTotal(total)
	return u, true
}

// Estimate takes in all marks so far; updated is false if no unit has been done since
// the last call.
func (t *Tracker) Estimate(marks []progress.Mark) (u Update, updated bool, err error) {
	n := len(marks)
	if n == 0 || marks[n-1].Number <= 0 || !t.later(marks[n-1]) && t.ended == t.Ended {
		return u, false, nil
	}
	last := marks[n-1]
	t.takeMark(last)
	u = Update{Done: last.Number, Epochs: t.Job.Epochs, Least: last.Least, Elapsed: last.Seconds}
	teardown, tells := t.Past.Teardown()
	if last.Number >= float64(t.Job.Epochs) && !t.Ended && !tells {
		return u, true, nil
	}
	total, refused, err := t.forecast(marks)
	if errors.Is(err, estimate.ErrTooFew) || errors.Is(err, estimate.ErrStages) {
		if expected, ok := t.Expect(last.Seconds); ok {
			u.setTotal(*expected.Total)
		}
		return u, true, nil
	}
	if err != nil {
		return u, true, err
	}
	if !t.Ended && tells {
		total = uncertainty.Prediction{Value: total.Value + teardown.Value, Low: total.Low + teardown.Low, High: total.High + teardown.High, Level: total.Level}
	}
	if refused != nil {
		u.Refused = refused.Error()
	}
	u.setTotal(total)
	u.NotEnough = u.NotEnough || refused != nil
	if t.first == nil {
		t.first = &total
	}
	u.Drifted = !t.first.Contains(total.Value)
	return u, true, nil
}

// takeMark notes the last mark. Another run, or another counter, has no first interval.
func (t *Tracker) takeMark(last progress.Mark) {
	if last.Seconds < t.last.Seconds {
		t.first = nil
	}
	t.open = t.open || t.Job.Epochs == 0
	if t.open && last.Of != t.last.Of {
		t.Job.Epochs = int(last.Of)
		t.first = nil
	}
	t.last = last
	t.ended = t.Ended
}

// forecast predicts when the last unit is done, or says why not. Where past runs ended by
// themselves before their last unit, the number of units is an upper end.
func (t *Tracker) forecast(marks []progress.Mark) (total uncertainty.Prediction, refused, err error) {
	last := marks[len(marks)-1]
	units := float64(t.Job.Epochs)
	var past []history.Shape
	if last.Number < units && len(t.Past.Runs) > 0 {
		past = t.Past.Shapes(last.Number / units)
	}
	var others [][]progress.Mark
	if len(t.Job.Stages) > 0 { // they show the stages to come
		others = t.Past.Marks(units)
	}
	until := func(units float64) (estimate.Rest, error) {
		job := t.Job
		job.Epochs = int(math.Ceil(units))
		return estimate.Forecast(marks, others, job, Level, past)
	}
	rest, err := until(units)
	if err != nil {
		return total, nil, err
	}
	total, refused = rest.Total, rest.Refused
	if last.Least > 0 && !t.Ended { // the run may end one unit sooner
		total.Low = last.Seconds
		if sooner, err := until(last.Least); err == nil && last.Number < last.Least {
			total.Low = max(total.Low, min(rest.Total.Low, sooner.Total.Low))
		}
	}
	if stops := t.Past.Stops(last.Number / units); len(stops) > 0 && !t.Ended {
		if earliest, err := until(stops[0] * units); err == nil {
			total.Low = min(total.Low, earliest.Total.Low)
		}
		if usual, err := until(stops[len(stops)/2] * units); err == nil {
			total.Value = usual.Total.Value
		}
	}
	if len(past) == 0 && !t.Ended { // past runs show how the machine's speed changes
		left := estimate.Shift(total, -last.Seconds)
		total = estimate.Shift(timing.MeanSpeedChange(Level, last.Seconds, left.Value).Widen(left), last.Seconds)
	}
	if refused == nil && t.Job.Epochs > 1 && len(past) == 0 && last.Number < math.Floor(marks[0].Number)+1 {
		refused = ErrWithinFirst
	}
	return total, refused, nil
}

// setTotal sets the total, and what is left of it.
func (u *Update) setTotal(total uncertainty.Prediction) {
	left := estimate.Shift(total, -u.Elapsed)
	u.Total = &total
	u.Left = &left
	u.NotEnough = total.Width() > total.Value/2
}

// later reports whether a mark is new. Another number may prove to be the counter; then units
// go back and time does not. Both go back where another run begins.
func (t *Tracker) later(m progress.Mark) bool {
	return m.Number > t.last.Number || m.Number < t.last.Number && m.Seconds != t.last.Seconds
}
