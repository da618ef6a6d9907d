package simulator

import (
	"math"
	"sort"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// Future is one way in which things may go on.
type Future struct {
	// Length is how long a job will have run in all, in seconds, that has run for
	// ran seconds by now.
	Length func(job int32, ran int64) int64
	// Back lets those jobs come, again, that came from so many seconds ago on; 0
	// adds no arrivals.
	Back int64
}

// In returns how long a job submitted now would wait in a future, in seconds, and
// at most the bound. Jobs submitted from outside, whose length is known, run as
// long as they run. The simulation stays as it is.
func (s *Simulator) In(future Future, t trace.Job, bound int64) (int64, error) {
	f := s.Fork()
	f.length = future.Length
	f.nodes.Reschedule(func(job int32, until, end int64) int64 {
		if s.IsExtra(job) {
			return end
		}
		start := until - s.job(job).limit
		return max(start+min(future.Length(job, s.now-start), s.job(job).limit), s.now)
	})
	// Those that came by now come again; what really comes is not known.
	f.shift, f.stop = future.Back, s.next
	f.next = s.next
	if future.Back > 0 && s.first < len(s.w.jobs) { // a queue seen from outside says nothing of arrivals
		f.next = sort.Search(s.next, func(i int) bool { return s.w.jobs[i].submit+future.Back > s.now })
	}
	number, err := f.Submit(t)
	if err != nil {
		return 0, err
	}
	if !f.RunUntilStarted(number, s.now+bound) {
		return bound, nil
	}
	return f.extra[number].Start - s.now, nil
}

// Using is the future that follows from what a user of the system could know, the
// queue as it is and time limits: nobody else submits anything, running jobs use share
// of the time they have left and pending ones share of their limits.
func (s *Simulator) Using(share float64) Future {
	return Future{Length: func(job int32, ran int64) int64 {
		return ran + int64(math.Ceil(share*float64(s.job(job).limit-ran)))
	}}
}

// Farthest is how long a wait may be, in seconds: a century.
const Farthest = 100 * 366 * 86400
