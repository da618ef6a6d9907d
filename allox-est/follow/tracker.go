package follow

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/allox-est/estimate"
	"github.com/foretime/foretime/allox-est/mark"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is that of the intervals.
const Level = 0.95

// ErrOrder is returned for an epoch that ends before the one before it, or after
// the last.
var ErrOrder = errors.New("not the end of the next epoch")

// Tracker follows one run. Its zero value has no epochs; use New.
type Tracker struct {
	epochs int
	from   int       // epochs that had ended when it began to look
	seed   []float64 // laps of the epochs before, where they are known
	marks  []float64
	first  *uncertainty.Prediction
}

// New follows a run of so many epochs, of which done had ended before anybody
// looked.
func New(epochs, done int) *Tracker { return &Tracker{epochs: epochs, from: done} }

// Resume follows a run that goes on from one of done epochs, whose laps, in
// seconds, are known.
func Resume(epochs, done int, laps []float64) *Tracker {
	return &Tracker{epochs: epochs, from: done, seed: laps}
}

// Update is what is known when an epoch has ended. Times are in seconds.
type Update struct {
	Done    int     `json:"epochs_done"`
	Epochs  int     `json:"epochs"`
	Elapsed float64 `json:"elapsed_seconds"` // since the run began, or since it was first looked at
	// Left is the time still to come, Total that with Elapsed; nil before four
	// epochs were seen to end.
	Left  *uncertainty.Prediction `json:"left_seconds"`
	Total *uncertainty.Prediction `json:"total_seconds"`
	// NotEnough says that the epochs differ so much that only the interval counts.
	NotEnough bool `json:"not_enough_to_tell,omitempty"`
	// Drifted says that Total has left the first interval given.
	Drifted bool `json:"left_first_interval,omitempty"`
}

// Mark takes in the end of the next epoch, at a time since the run, or the look
// at it, began.
func (t *Tracker) Mark(at time.Duration) (Update, error) {
	if err := t.add(at.Seconds()); err != nil {
		return Update{}, err
	}
	return t.now()
}

func (t *Tracker) add(seconds float64) error {
	if n := len(t.marks); t.from+n == t.epochs || n > 0 && seconds < t.marks[n-1] {
		return fmt.Errorf("%w: at %.3f s, %d of %d", ErrOrder, seconds, t.from+n, t.epochs)
	}
	t.marks = append(t.marks, seconds)
	return nil
}

// now is what the marks say.
func (t *Tracker) now() (Update, error) {
	seconds := t.marks[len(t.marks)-1]
	u := Update{Done: t.from + len(t.marks), Epochs: t.epochs, Elapsed: seconds}
	laps := append(slices.Clone(t.seed), t.laps()...)
	before, at := t.marks[0]-floats.Sum(t.seed), 0.0
	run := []mark.Mark{{}}
	for i, lap := range laps {
		at += lap
		run = append(run, mark.Mark{Number: float64(i + 1), Seconds: at})
	}
	rest, err := estimate.Continue(run, nil, estimate.Job{Epochs: len(laps) + t.epochs - u.Done}, Level)
	if errors.Is(err, estimate.ErrTooFew) {
		return u, nil
	}
	if err != nil {
		return u, err
	}
	total, unsure := rest.Total, rest.Refused != nil
	total.Value, total.Low, total.High = before+total.Value, before+total.Low, before+total.High
	left := total
	left.Value, left.Low, left.High = total.Value-seconds, total.Low-seconds, total.High-seconds
	if t.first == nil {
		t.first = &total
	}
	u.Total, u.Left, u.NotEnough, u.Drifted = &total, &left, unsure, !t.first.Contains(total.Value)
	return u, nil
}

// laps are the times between the ends of epochs. What was before the first end
// holds the set-up too.
func (t *Tracker) laps() []float64 {
	var laps []float64
	for i := 1; i < len(t.marks); i++ {
		laps = append(laps, t.marks[i]-t.marks[i-1])
	}
	return laps
}
