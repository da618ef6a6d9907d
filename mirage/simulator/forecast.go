package simulator

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/mirage/trace"
)

// Forecast foretells when a job submitted now would start, from what a user of
// the system could know: the queue as it is, and time limits. Nobody else
// submits anything, running jobs use share of the time they have left and
// pending ones share of their limits; jobs that were submitted from outside,
// whose length is known, run as long as they run. It returns the wait in
// seconds. The simulation stays as it is.
func (s *Simulator) Forecast(t trace.Job, share float64) (int64, error) {
	f := s.Fork()
	f.next, f.share = len(s.w.jobs), share
	f.nodes.Reschedule(func(job int32, until, end int64) int64 {
		if s.IsExtra(job) {
			return end
		}
		return s.now + int64(math.Ceil(share*float64(until-s.now)))
	})
	number, err := f.Submit(t)
	if err != nil {
		return 0, err
	}
	if !f.RunUntilStarted(number, math.MaxInt64) {
		return 0, fmt.Errorf("internal error: a forecast of %d nodes never ends", t.Nodes)
	}
	return f.extra[number].Start - s.now, nil
}
