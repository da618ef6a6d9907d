package backtest

import "github.com/foretime/foretime/shared/uncertainty"

// Answer is a predicted wait in seconds with its interval, and the chances of
// others.
type Answer struct {
	uncertainty.Prediction
	// Starts holds the probability of a start within some seconds, in ascending order; empty if
	// too few jobs have started.
	Starts []Start
}

// Start is the chance that a job starts within so many seconds.
type Start struct {
	Seconds float64 `json:"seconds"`
	Chance  float64 `json:"chance"`
}

// Chance returns the probability of a wait of at most so many seconds; known is false if too
// few jobs have started. Beyond the last of the Starts the remaining probability falls as the
// inverse of the wait.
func (a Answer) Chance(seconds float64) (chance float64, known bool) {
	if len(a.Starts) == 0 {
		return 0, false
	}
	var before Start
	for _, s := range a.Starts {
		if seconds < s.Seconds {
			return max(before.Chance+(seconds-before.Seconds)/(s.Seconds-before.Seconds)*(s.Chance-before.Chance), 0), true
		}
		before = s
	}
	return 1 - (1-before.Chance)*before.Seconds/max(seconds, 1), true
}

// By returns the seconds within which the job starts with a probability, at most that of the
// last of the Starts; known is false if too few jobs have started.
func (a Answer) By(chance float64) (seconds float64, known bool) {
	if len(a.Starts) == 0 {
		return 0, false
	}
	var before Start
	for _, s := range a.Starts {
		if chance < s.Chance {
			return before.Seconds + (chance-before.Chance)/(s.Chance-before.Chance)*(s.Seconds-before.Seconds), true
		}
		before = s
	}
	return before.Seconds, true
}

// Chances returns the probabilities of the Starts; the middle one belongs to the predicted
// wait.
func Chances() []float64 { return []float64{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95} }

// delayed is the share of the promised misses that the ends of intervals aim at. The wait is
// known only when a job starts, so long waits are learnt too late, and aiming at all misses
// would miss more. Set on hpc2n, wagap and Lonestar6, February included.
const delayed = 0.6

// fewestStarts is the number of jobs that must have started before an interval is given.
const fewestStarts = 20

// misses tracks the errors of forecasts, on the transformed scale.
type misses struct {
	level  float64
	ends   *uncertainty.Curve // of intervals
	starts *uncertainty.Curve
}

func newMisses(level float64) (e misses, err error) {
	tail := delayed * (1 - level) / 2
	if e.ends, err = uncertainty.NewCurve(tail, 1-tail); err == nil {
		e.starts, err = uncertainty.NewCurve(Chances()...)
	}
	e.level = level
	return e, err
}

// learn adds a prediction and the actual wait, in seconds.
func (e *misses) learn(predicted, came float64) {
	for _, c := range []*uncertainty.Curve{e.ends, e.starts} {
		_ = c.Observe(transformed(predicted), transformed(came)) // waits are finite
	}
}

// about is a predicted wait of so many seconds with its interval.
func (e *misses) about(seconds float64) Answer {
	a := Answer{Prediction: uncertainty.Point(seconds)}
	a.Level = e.level
	if e.ends.Seen() < fewestStarts {
		return a
	}
	ends := e.ends.About(transformed(seconds))
	a.Low, a.High = min(inverse(ends[0]), seconds), max(inverse(ends[1]), seconds)
	curve := e.starts.About(transformed(seconds))
	// Its median is the predicted wait: that counts the jobs that still wait, which the
	// tracked one learns of too late.
	shift := transformed(seconds) - curve[len(curve)/2]
	for i, q := range curve {
		a.Starts = append(a.Starts, Start{inverse(q + shift), Chances()[i]})
	}
	return a
}
