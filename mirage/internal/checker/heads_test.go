package checker

import (
	"cmp"
	"math"
	"slices"

	"github.com/foretime/foretime/mirage/internal/cluster"
)

// heads checks invariants 5, 7 and 9 by going through the schedule instant by
// instant with priorities recomputed from scratch: after each instant the
// first job in the queue whose user may run more must not fit in the free
// nodes, and while a job stays first it must start by the reservation that
// the limits of the running jobs gave it.
func heads(r *Report, t Table, ran []*run) {
	r.checked(7, 9)
	within := reservedWithin(t)
	if within > 0 {
		r.checked(5)
	} else {
		r.skip(5, "the scheduler gives the first job no exact reservation")
	}
	f := &floor{t: t, r: r, users: map[string]int{}, within: within, bound: math.MaxInt64}
	f.walk(ran)
}

// reservedWithin is how far ahead, in seconds, the first job's reservation is
// kept to the second; 0 is not at all.
func reservedWithin(t Table) int64 {
	if len(t.Machine.Down) > 0 {
		return 0
	}
	switch b := t.Rules.Backfill; {
	case t.Rules.Discipline == cluster.FCFS || t.Rules.Discipline == cluster.Slurm && b.ResolutionSeconds > 0:
		return 0
	case t.Rules.Discipline == cluster.Slurm:
		return b.WindowMinutes * 60
	}
	return math.MaxInt64
}

// floor is the state of the machine as the output implies it.
type floor struct {
	t       Table
	r       *Report
	pending []*run
	running []*run
	users   map[string]int // running jobs
	used    int

	head   *run  // first job after the last instant
	within int64 // reservations so many seconds ahead are kept
	bound  int64 // it must start by then
}

// walk goes through all instants at which something happens.
func (f *floor) walk(ran []*run) {
	arrivals, starts, ends := slices.Clone(ran), slices.Clone(ran), slices.Clone(ran)
	slices.SortStableFunc(arrivals, func(a, b *run) int { return cmp.Compare(a.eligible, b.eligible) })
	slices.SortStableFunc(starts, func(a, b *run) int { return cmp.Compare(a.start, b.start) })
	slices.SortStableFunc(ends, func(a, b *run) int { return cmp.Compare(a.end, b.end) })
	for len(arrivals)+len(starts)+len(ends) > 0 {
		now := int64(math.MaxInt64)
		if len(arrivals) > 0 {
			now = min(now, arrivals[0].eligible)
		}
		if len(starts) > 0 {
			now = min(now, starts[0].start)
		}
		if len(ends) > 0 {
			now = min(now, ends[0].end)
		}
		before := map[string]int{}
		for len(arrivals) > 0 && arrivals[0].eligible == now {
			f.pending = append(f.pending, arrivals[0])
			arrivals = arrivals[1:]
		}
		var begun []*run
		for len(starts) > 0 && starts[0].start == now {
			begun = append(begun, starts[0])
			starts = starts[1:]
		}
		for _, j := range begun {
			f.running = append(f.running, j)
			f.used += j.Nodes
			f.users[j.User]++
			before[j.User]++
		}
		if len(begun) > 0 {
			f.pending = slices.DeleteFunc(f.pending, func(j *run) bool { return j.start == now })
		}
		ended := false
		for len(ends) > 0 && ends[0].end == now {
			j := ends[0]
			f.used -= j.Nodes
			f.users[j.User]--
			if j.start == now { // of zero duration: it limited nobody in the end
				before[j.User]--
			}
			ends = ends[1:]
			ended = true
		}
		if ended {
			f.running = slices.DeleteFunc(f.running, func(j *run) bool { return j.end == now })
		}
		f.instant(now, begun, before)
	}
}

// priority is a job's multifactor priority, from scratch.
func (f *floor) priority(j *run, now int64) float64 {
	w := f.t.Rules.Weights
	p := w.Size * float64(j.Nodes) / float64(f.t.Machine.Nodes)
	if f.t.room != nil {
		p += 1e9 * float64(f.t.room.tier(j.Job))
	}
	if f.t.Rules.LoggedPriority {
		p += w.Logged * j.Priority
	}
	if w.Age > 0 {
		p += w.Age * min(1, float64(now-j.eligible)/(w.MaxAgeDays*86400))
	}
	return p
}

// slack is how far apart two priorities must be to tell them apart, given
// rounding; jobs closer than that are never called out of order.
const slack = 1e-6

// ahead reports whether a comes before b in the queue, beyond doubt.
func (f *floor) ahead(a, b *run, now int64) bool {
	pa, pb := f.priority(a, now), f.priority(b, now)
	if math.Abs(pa-pb) > slack {
		return pa > pb
	}
	return a.Submit < b.Submit || a.Submit == b.Submit && a.index < b.index
}

// instant judges the state after all that happened at now. startedNow counts
// the users' jobs that started now and run on.
func (f *floor) instant(now int64, begun []*run, startedNow map[string]int) {
	if f.head != nil {
		f.judgeHead(now, begun)
	}
	head := f.first(now, len(begun), startedNow)
	if head != nil && f.fits(head, now) {
		f.r.breach(7, head.ID, now, "is first in the queue, fits in the %d free nodes, and does not start", f.t.Machine.Nodes-f.used)
	}
	if f.t.room != nil && f.t.Rules.UserLimit == 0 && (f.t.Rules.QueueDepth == 0 || len(begun)+len(f.pending) <= f.t.Rules.QueueDepth) {
		f.apart(now, begun)
	}
	f.watch(head, now)
}

// apart checks that a job that shares no node with any ahead of it starts if it
// fits. One ahead of it that has begun at this instant counts: backfill may have
// started it after the strict pass, which kept its nodes from those behind it.
func (f *floor) apart(now int64, begun []*run) {
	ahead := slices.Concat(f.pending, begun)
	for _, j := range f.pending {
		alone := !slices.ContainsFunc(ahead, func(o *run) bool {
			return o != j && !f.ahead(j, o, now) && f.t.room.meet(j.Job, o.Job)
		})
		if alone && f.fits(j, now) {
			f.r.breach(7, j.ID, now, "is first for its nodes, fits, and does not start")
		}
	}
}

// first is the first job in the queue whose user may run more jobs, or nil
// where that depends on the order of things within this instant. A pass that
// looks at so many jobs counts those it starts.
func (f *floor) first(now int64, begun int, startedNow map[string]int) *run {
	limit := f.t.Rules.UserLimit
	seen := map[*run]bool{}
	for depth := begun; f.t.Rules.QueueDepth == 0 || depth < f.t.Rules.QueueDepth; depth++ {
		var best *run
		for _, j := range f.pending {
			if !seen[j] && (best == nil || f.ahead(j, best, now)) {
				best = j
			}
		}
		if best == nil || limit == 0 {
			return best
		}
		after := f.users[best.User] >= limit
		earlier := f.users[best.User]-startedNow[best.User] >= limit
		if after != earlier {
			return nil
		}
		if !after {
			return best
		}
		seen[best] = true
	}
	return nil
}

// fits reports whether a job could start now and run to its limit.
func (f *floor) fits(j *run, now int64) bool {
	if f.t.room != nil {
		return f.t.room.fits(j, f.running, f.t.Machine.Down, now)
	}
	if f.t.Machine.Nodes-f.used < j.Nodes {
		return false
	}
	for _, w := range f.t.Machine.Down {
		moments := []int64{max(now, w.From)}
		for _, v := range f.t.Machine.Down {
			moments = append(moments, max(now, v.From))
		}
		for _, at := range moments {
			if at < now+max(j.Limit, 1) && f.planned(at, now)+j.Nodes > f.t.Machine.Nodes {
				return false
			}
		}
	}
	return true
}

// planned is how many nodes are taken or down at a moment if running jobs go
// to their limits. A job past its limit plans for one second more.
func (f *floor) planned(at, now int64) int {
	n := 0
	for _, j := range f.running {
		if max(j.until(), now+1) > at {
			n += j.Nodes
		}
	}
	for _, w := range f.t.Machine.Down {
		if w.From <= at && at < w.To {
			n += w.Nodes
		}
	}
	return n
}

// watch notes the reservation of the first job.
func (f *floor) watch(head *run, now int64) {
	if head != f.head {
		f.head, f.bound = head, math.MaxInt64
	}
	if head == nil || f.within == 0 {
		return
	}
	at := f.reservation(head, now)
	if at-now >= f.within {
		return
	}
	f.bound = min(f.bound, at)
}

// reservation is when so many nodes will be free if running jobs go to their
// limits.
func (f *floor) reservation(j *run, now int64) int64 {
	if f.t.room != nil {
		return f.t.room.reservation(j, f.running, now)
	}
	free := f.t.Machine.Nodes - f.used
	ends := slices.Clone(f.running)
	slices.SortFunc(ends, func(a, b *run) int { return cmp.Compare(a.until(), b.until()) })
	at := now
	for _, o := range ends {
		if free >= j.Nodes {
			break
		}
		free += o.Nodes
		at = max(at, o.until())
	}
	return at
}

// judgeHead checks the job that was first against its bound, or lets it go
// where a job before it in the queue has come and taken nodes.
func (f *floor) judgeHead(now int64, begun []*run) {
	for _, j := range begun {
		if j != f.head && f.ahead(j, f.head, now) {
			f.head = nil
			return
		}
	}
	if f.head.start == now && now > f.bound {
		f.r.breach(5, f.head.ID, now, "starts %d s after the reservation it had as first in the queue", now-f.bound)
	}
	if f.head.start <= now {
		f.head = nil
	}
}
