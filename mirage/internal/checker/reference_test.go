package checker

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// reference is a simulator as plain as can be: lists, searched from end to
// end at every instant. The real one must agree with it to the second, and
// with a fault planted in it the checker must notice.
type reference struct {
	Table
	fault fault

	now, lastPass int64
	dirty         bool
	pending       []int
	running       []held
	start         map[int]int64
	end           map[int]int64
	eligible      map[int]int64
	planned       []held // of the pass in progress
	room          *refRoom
	places        map[int]string
}

// held is a job on nodes for a span.
type held struct {
	job, nodes int
	from, to   int64 // planned span
	end        int64
	user       string
	on         []int // where nodes are of kinds
	alone      bool  // shares them with nobody
}

// fault is a bug planted in the reference.
type fault int

const (
	sound fault = iota
	oneNodeTooMany
	userLimitOffByOne
	runsOverLimit
	losesJobs
	backfillIgnoresReservations
	ageWithoutCap
	newestFirst
	startsBeforeDependency
	restsWithIdleNodes
	forgetsGPUs
	forgetsMemory
	sharesExclusive
	leavesPartition
	ignoresTiers
	ignoresDown
	holdsUpOthers
)

func (f *reference) simulate() []Outcome {
	f.start, f.end, f.eligible = map[int]int64{}, map[int]int64{}, map[int]int64{}
	f.lastPass = math.MinInt64 / 2
	arrived, waiting := 0, []int{}
	edges := []int64{}
	for _, w := range f.Machine.Down {
		edges = append(edges, w.From, w.To)
	}
	slices.Sort(edges)
	if len(f.Jobs) > 0 {
		f.now = f.Jobs[0].Submit
	}
	edges = slices.DeleteFunc(edges, func(e int64) bool { return e < f.now })
	for {
		at := int64(math.MaxInt64)
		if arrived < len(f.Jobs) {
			at = f.Jobs[arrived].Submit
		}
		for _, r := range f.running {
			at = min(at, r.end)
		}
		for _, i := range waiting {
			if e, ok := f.ready(i); ok {
				at = min(at, max(e, f.now))
			}
		}
		if len(edges) > 0 && (len(f.pending) > 0 || at < math.MaxInt64) {
			at = min(at, edges[0])
		}
		if f.dirty && len(f.pending) > 0 {
			at = min(at, f.lastPass+f.Rules.Backfill.IntervalSeconds)
		}
		if at == math.MaxInt64 {
			return f.outcomes()
		}
		f.now = max(at, f.now)
		changed := false
		f.running = slices.DeleteFunc(f.running, func(r held) bool {
			changed = changed || r.end <= f.now
			return r.end <= f.now
		})
		for len(edges) > 0 && edges[0] <= f.now {
			edges, changed = edges[1:], true
		}
		for ; arrived < len(f.Jobs) && f.Jobs[arrived].Submit <= f.now; arrived++ {
			changed = true
			if !f.accepted(arrived) || f.fault == losesJobs && arrived%17 == 5 {
				continue
			}
			waiting = append(waiting, arrived)
		}
		waiting = slices.DeleteFunc(waiting, func(i int) bool {
			e, ok := f.ready(i)
			if ok && e <= f.now {
				f.eligible[i] = e
				f.pending = append(f.pending, i)
				changed = true
				return true
			}
			return false
		})
		if changed {
			f.dirty = f.Rules.Discipline == cluster.Slurm
			f.event()
		}
		if f.dirty && f.now >= f.lastPass+f.Rules.Backfill.IntervalSeconds {
			f.dirty, f.lastPass = false, f.now
			f.reserving(f.Rules.Backfill.MaxJobTest, f.Rules.Backfill.WindowMinutes*60)
		}
	}
}

// ready is when a job becomes eligible, if that is known.
func (f *reference) ready(i int) (int64, bool) {
	j := f.Jobs[i]
	k := slices.IndexFunc(f.Jobs, func(o trace.Job) bool { return o.ID == j.After })
	if j.After == "" || k < 0 || !f.accepted(k) || f.fault == startsBeforeDependency {
		return j.Submit, true
	}
	end, ok := f.end[k]
	if !ok || end > f.now {
		return 0, false
	}
	return max(j.Submit, end), true
}

func (f *reference) priority(i int) float64 {
	j, w := f.Jobs[i], f.Rules.Weights
	p := w.Size * float64(j.Nodes) / float64(f.Machine.Nodes)
	if _, tier := f.partitionsOf(i); f.fault != ignoresTiers {
		p += 1e9 * float64(tier)
	}
	if f.Rules.LoggedPriority {
		p += w.Logged * j.Priority
	}
	if w.Age > 0 {
		age := float64(f.now-f.eligible[i]) / (w.MaxAgeDays * 86400)
		if f.fault != ageWithoutCap {
			age = min(1, age)
		}
		p += w.Age * age
	}
	return p
}

// queue is the pending jobs in order.
func (f *reference) queue() []int {
	q := slices.Clone(f.pending)
	slices.SortFunc(q, func(a, b int) int {
		pa, pb := f.priority(a), f.priority(b)
		switch {
		case math.Abs(pa-pb) > 1e-6 && pa > pb:
			return -1
		case math.Abs(pa-pb) > 1e-6:
			return 1
		case f.fault == newestFirst:
			return b - a
		}
		return a - b
	})
	return q
}

func (f *reference) blocked(i int) bool {
	limit := f.Rules.UserLimit
	if f.fault == userLimitOffByOne && limit > 0 {
		limit++
	}
	n := 0
	for _, r := range f.running {
		if r.user == f.Jobs[i].User {
			n++
		}
	}
	return limit > 0 && n >= limit
}

// used is how many nodes are planned to be in use at a moment.
func (f *reference) used(at int64) int {
	n := 0
	for _, list := range [][]held{f.running, f.planned} {
		for _, h := range list {
			if h.from <= at && at < max(h.to, f.now+1) {
				n += h.nodes
			}
		}
	}
	for _, w := range f.Machine.Down {
		if w.From <= at && at < w.To {
			n += w.Nodes
		}
	}
	return n
}

// fits reports whether a job can have its nodes from at to its limit.
func (f *reference) fits(i int, at int64) bool {
	if len(f.Machine.Kinds) > 0 {
		return f.choice(i, at) != nil
	}
	moments := []int64{at}
	for _, h := range f.planned {
		moments = append(moments, h.from)
	}
	for _, w := range f.Machine.Down {
		moments = append(moments, w.From)
	}
	j := f.Jobs[i]
	nodes := f.Machine.Nodes
	if f.fault == oneNodeTooMany {
		nodes++
	}
	for _, m := range moments {
		if m >= at && m < at+max(j.Limit, 1) && f.used(m)+j.Nodes > nodes {
			return false
		}
	}
	return true
}

// earliest is the first moment from which a job fits.
func (f *reference) earliest(i int) int64 {
	moments := []int64{f.now}
	for _, list := range [][]held{f.running, f.planned} {
		for _, h := range list {
			moments = append(moments, max(h.to, f.now+1))
		}
	}
	for _, w := range f.Machine.Down {
		moments = append(moments, w.To)
	}
	slices.Sort(moments)
	for _, m := range moments {
		if m >= f.now && f.fits(i, m) {
			return m
		}
	}
	panic("no room, ever")
}

func (f *reference) begin(i int) {
	j := f.Jobs[i]
	end := f.now + min(j.Duration(), j.Limit)
	if f.fault == runsOverLimit {
		end = f.now + j.Duration()
	}
	f.running = append(f.running, held{i, j.Nodes, f.now, f.now + j.Limit, end, j.User, f.on(i, f.now), false})
	f.start[i], f.end[i] = f.now, end
	f.pending = slices.DeleteFunc(f.pending, func(k int) bool { return k == i })
}

func (f *reference) plan(i int, at int64) {
	j := f.Jobs[i]
	f.planned = append(f.planned, held{i, j.Nodes, at, at + max(j.Limit, 1), 0, j.User, f.on(i, at), false})
}

func (f *reference) on(i int, at int64) []int {
	if len(f.Machine.Kinds) == 0 {
		return nil
	}
	on := f.choice(i, at)
	if f.places == nil {
		f.places = map[int]string{}
	}
	f.places[i] = strings.Trim(fmt.Sprint(on), "[]")
	return on
}

func (f *reference) event() {
	f.planned = nil
	f.nodes().closed = nil
	switch f.Rules.Discipline {
	case cluster.Conservative:
		f.reserving(0, 0)
		return
	case cluster.EASY:
		reserved := map[string]bool{}
		for _, i := range f.queue() {
			switch {
			case f.blocked(i):
			case f.fits(i, f.now):
				f.begin(i)
			case f.unreserved(i, reserved) && f.fault != backfillIgnoresReservations:
				f.plan(i, f.earliest(i))
			}
		}
		return
	}
	for n, i := range f.queue() {
		if f.Rules.QueueDepth > 0 && n >= f.Rules.QueueDepth || f.fault == restsWithIdleNodes && n > 0 {
			return
		}
		if f.blocked(i) {
			continue
		}
		if !f.fits(i, f.now) {
			if f.close(i) {
				continue
			}
			return
		}
		f.begin(i)
	}
}

// unreserved says that nobody has a reservation yet in one of a job's partitions,
// and that it has one from now on.
func (f *reference) unreserved(i int, reserved map[string]bool) bool {
	names := []string{"any"}
	if len(f.Machine.Kinds) > 0 {
		if names, _ = f.partitionsOf(i); names == nil {
			names = []string{"a", "b", "any"}
		}
	}
	first := false
	for _, name := range names {
		first = first || !reserved[name]
		reserved[name] = true
	}
	return first
}

func (f *reference) reserving(depth int, window int64) {
	f.planned = nil
	f.nodes().closed = nil
	if f.fault == restsWithIdleNodes {
		return
	}
	for n, i := range f.queue() {
		if depth > 0 && n >= depth {
			return
		}
		if f.blocked(i) {
			continue
		}
		at := f.earliest(i)
		if at == f.now {
			f.begin(i)
		} else if (window == 0 || at < f.now+window) && f.fault != backfillIgnoresReservations {
			f.plan(i, at)
			f.planned[len(f.planned)-1].alone = f.Rules.Discipline == cluster.Slurm
		}
	}
}

func (f *reference) outcomes() []Outcome {
	out := make([]Outcome, len(f.Jobs))
	for i, j := range f.Jobs {
		out[i] = Outcome{
			ID: j.ID, User: j.User, Nodes: j.Nodes, Submit: j.Submit, LimitSeconds: j.Limit,
			DurationSeconds: j.Duration(), ActualStart: j.Start, Status: "rejected",
		}
		if start, ok := f.start[i]; ok {
			end := f.end[i]
			out[i].Start, out[i].End, out[i].Status, out[i].On = &start, &end, "started", f.places[i]
		}
	}
	return out
}
