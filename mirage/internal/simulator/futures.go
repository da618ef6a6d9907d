package simulator

import (
	"math"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/crash"
)

// Future is one possible continuation of a simulation.
type Future struct {
	// Length returns the total run time in seconds of a job that has run for ran seconds by
	// now.
	Length func(job int32, ran int64) int64
	// Back lets those jobs come, again, that came from so many seconds ago on; 0
	// adds no arrivals.
	Back int64
}

// Wait is the wait of a job in a future, in seconds, and its parts. What is left is the
// wait for room.
type Wait struct {
	Seconds    int64 // in all
	Eligible   int64 // until the job may start
	Dependency int64 // then for another job's end
	Limits     int64 // then for its own limits
}

// Room returns the wait for room.
func (w Wait) Room() int64 { return w.Seconds - w.Eligible - w.Dependency - w.Limits }

// In returns how long a job submitted now would wait in a future, in seconds, and
// at most the bound. Jobs submitted from outside, whose length is known, run as
// long as they run. The simulation stays as it is.
func (s *Simulator) In(future Future, t trace.Job, bound int64) (int64, error) {
	w, err := s.WaitIn(future, t, bound)
	return w.Seconds, err
}

// WaitIn does what In does and returns the parts of the wait. The job's Eligible and After
// count; After may be several ids with commas between: "12+60" is 60 s after the begin of job 12.
func (s *Simulator) WaitIn(future Future, t trace.Job, bound int64) (w Wait, err error) {
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
	if future.Back > 0 && (s.repeats || s.first < len(s.w.jobs)) { // a queue seen from outside says nothing of arrivals
		f.next = sort.Search(s.next, func(i int) bool { return s.w.jobs[i].submit+future.Back > s.now })
	}
	last := s.now + bound
	if eligible := min(t.Eligible, last); eligible > s.now {
		f.RunUntil(eligible)
		w.Eligible = eligible - s.now
	}
	if t.After != "" {
		for item := range strings.SplitSeq(t.After, ",") {
			id, text, begins := strings.Cut(item, "+")
			if !begins {
				w.Dependency += f.runUntilEnded(id, last)
				continue
			}
			from := f.now
			delay, _ := strconv.ParseInt(text, 10, 64)
			if start, ok := f.runUntilBegun(id, last); ok {
				f.RunUntil(min(start+delay, last))
			}
			w.Dependency += f.now - from
		}
	}
	eligible := f.now
	number, err := f.Submit(t)
	if err != nil {
		return w, err
	}
	if !f.RunUntilStarted(number, last) {
		w.Seconds = bound
		return w, nil
	}
	e := &f.extra[number]
	w.Seconds, w.Limits = e.Start-s.now, max(e.barred-eligible, 0)
	return w, nil
}

// Draw returns the waits of a job in a number of futures, which are simulated at once.
func (s *Simulator) Draw(t trace.Job, number int, future func(i int) Future) ([]Wait, error) {
	waits := make([]Wait, number)
	var group crash.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range waits {
		group.Go(func() (err error) {
			waits[i], err = s.WaitIn(future(i), t, Farthest)
			return err
		})
	}
	return waits, group.Wait()
}

// runUntilEnded lets time go on until the jobs of an id have ended, or an instant has
// passed, and returns for how long.
func (s *Simulator) runUntilEnded(id string, until int64) int64 {
	from := s.now
	for i := range s.w.Jobs {
		if s.w.Jobs[i].ID != id {
			continue
		}
		for s.inQueue(int32(i)) && s.nextEvent() <= until && s.Step() {
		}
	}
	return s.now - from
}

// runUntilBegun lets time go on until the job of an id has begun, or an instant has passed, and
// returns when it began; false if it is not running.
func (s *Simulator) runUntilBegun(id string, until int64) (int64, bool) {
	i := slices.IndexFunc(s.w.Jobs, func(j trace.Job) bool { return j.ID == id })
	if i < 0 {
		return 0, false
	}
	for {
		all := s.nodes.Running()
		if at := slices.IndexFunc(all, func(a cluster.Allocation) bool { return a.Job == int32(i) }); at >= 0 {
			return all[at].Start, true
		}
		if !s.inQueue(int32(i)) || s.nextEvent() > until || !s.Step() {
			return 0, false
		}
	}
}

// inQueue reports whether a job is pending or running.
func (s *Simulator) inQueue(i int32) bool {
	found := slices.ContainsFunc(s.nodes.Running(), func(a cluster.Allocation) bool { return a.Job == i }) ||
		slices.ContainsFunc(s.held, func(h hold) bool { return h.job == i })
	if !found {
		s.queue.Each(s.now, func(r *cluster.Request) bool { found = r.Job == i; return !found })
	}
	if after := s.job(i).after; !found && after >= 0 {
		return s.inQueue(after)
	}
	return found
}

// Using returns the future that follows from what a user of the system could know, the
// queue as it is and time limits: nobody else submits anything, running jobs use share
// of the time they have left and pending ones share of their limits.
func (s *Simulator) Using(share float64) Future {
	return Future{Length: func(job int32, ran int64) int64 {
		return ran + int64(math.Ceil(share*float64(s.job(job).limit-ran)))
	}}
}

// Farthest is the longest possible wait in seconds: a century.
const Farthest = 100 * 366 * 86400
