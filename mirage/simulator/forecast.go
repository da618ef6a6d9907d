package simulator

import (
	"math"

	"github.com/foretime/foretime/mirage/trace"
)

// Forecast predicts when a job submitted now would start, from what a user of
// the system could know: the queue as it is, and time limits. Nobody else
// submits anything, running jobs use share of the time they have left and
// pending ones share of their limits. It returns the wait in seconds.
func (s *Simulator) Forecast(t trace.Job, share float64) (int64, error) {
	return s.In(s.Using(share), t, Farthest)
}

// Using is the future of [Simulator.Forecast].
func (s *Simulator) Using(share float64) Future {
	return Future{Length: func(job int32, ran int64) int64 {
		return ran + int64(math.Ceil(share*float64(s.job(job).limit-ran)))
	}}
}

// Farthest is how long a wait may be, in seconds: a century.
const Farthest = 100 * 366 * 86400
