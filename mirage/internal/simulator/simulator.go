package simulator

import (
	"context"
	"math"
	"slices"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// Simulator is a simulation in progress. It is not for concurrent use; fork
// it instead.
type Simulator struct {
	w    *Workload
	plan *cluster.Plan

	now      int64
	next     int // next job of the workload to be submitted
	extra    []Extra
	nodes    *cluster.Occupancy
	queue    *cluster.Queue
	running  []int32 // jobs that each user runs
	first    int     // first job of the workload that is simulated
	held     []hold  // what follows a job that has ended, until it is eligible
	lastPass int64
	dirty    bool                             // something happened since the last backfill pass
	edge     int                              // next of the workload's edges
	waits    []float64                        // seconds that jobs of the workload waited, in the order of their starts
	length   func(job int32, ran int64) int64 // of jobs, in a future; nil otherwise
	shift    int64                            // between a submission and its repetition, in a future
	stop     int                              // the first job of the workload that will not be submitted
	ended    []past                           // jobs of the workload that have ended, in order
	used     []int64                          // by number of a cap
	repeats  bool                             // it was set from outside, and its past arrivals are known

	// OnStart, where set, is called at every start. A fork does not inherit it.
	OnStart func(job int32, at int64)
	floor   cluster.Pass
}

// Extra is a job submitted to a running simulation from outside.
type Extra struct {
	job
	Started    bool
	Finished   bool
	Backfilled bool  // started out of turn
	Start      int64 // Unix seconds, if Started
	barred     int64 // when a limit let it go; 0 if none held it
}

// End returns the end of a started job.
func (e *Extra) End() int64 { return e.Start + e.duration }

// past is a job that has ended.
type past struct {
	job   int32
	start int64 // Unix seconds
}

type hold struct {
	at  int64
	job int32
}

// never is later than any event.
const never = math.MaxInt64

// New returns a simulation of the whole workload, from an idle machine.
func (w *Workload) New() *Simulator { return w.NewFrom(w.origin) }

// NewFrom returns a simulation that starts with an idle machine and the first
// job submitted at from or later.
func (w *Workload) NewFrom(from int64) *Simulator {
	s := &Simulator{
		w: w, plan: w.plan.Clone(), now: from,
		nodes:    cluster.NewOccupancy(w.Config.Machine),
		queue:    cluster.NewQueue(&w.Config.Rules, w.origin),
		running:  make([]int32, w.users, w.users+2),
		used:     make([]int64, len(w.Config.Caps)),
		lastPass: math.MinInt64 / 2,
	}
	s.stop = len(w.jobs)
	for s.next < len(w.jobs) && w.jobs[s.next].submit < from {
		s.next++
	}
	s.first = s.next
	for s.edge < len(w.edges) && w.edges[s.edge] < from {
		s.edge++
	}
	s.open()
	return s
}

// open lays the floor that passes work on.
func (s *Simulator) open() {
	s.floor = cluster.Pass{
		Queue: s.queue, Nodes: s.nodes,
		Running: s.running, Start: s.start,
	}
	if len(s.used) > 0 {
		s.floor.Admits = s.admits
	}
}

// admits reports whether the caps of a job allow it to start.
func (s *Simulator) admits(r *cluster.Request) bool {
	exceeds := func(c trace.Charge) bool { return s.used[c.Cap]+c.Amount > s.w.Config.Caps[c.Cap] }
	return !slices.ContainsFunc(s.job(r.Job).charges, exceeds)
}

// use adds a job to what its caps count, times 1 or -1.
func (s *Simulator) use(j *job, times int64) {
	for _, c := range j.charges {
		s.used[c.Cap] += times * c.Amount
	}
}

// Fork returns an independent copy of the simulation at this instant. The
// table of jobs is shared.
func (s *Simulator) Fork() *Simulator {
	c := *s
	c.plan = s.w.plan.Clone()
	c.extra = append([]Extra(nil), s.extra...)
	c.used = slices.Clone(s.used)
	c.nodes = s.nodes.Clone()
	c.queue = s.queue.Clone()
	c.running = append(make([]int32, 0, len(s.running)+2), s.running...)
	c.ended = s.ended[:len(s.ended):len(s.ended)]
	c.waits = s.waits[max(len(s.waits)-waitsKept, 0):len(s.waits):len(s.waits)]
	c.held = append([]hold(nil), s.held...)
	c.OnStart = nil
	c.open()
	return &c
}

// Now returns the instant up to which the simulation has come, in Unix seconds.
func (s *Simulator) Now() int64 { return s.now }

// waitsKept is the number of earlier waits that a fork remembers.
const waitsKept = 512

// LastWaits returns the waits, in seconds, of the latest n started jobs of the
// workload, newest first: fewer where not so many have started, at most 512 in a fork. Jobs submitted from
// outside do not count, nor do starts in a future.
func (s *Simulator) LastWaits(n int) []float64 {
	out := slices.Clone(s.waits[max(len(s.waits)-n, 0):])
	slices.Reverse(out)
	return out
}

// Workload returns the simulated workload.
func (s *Simulator) Workload() *Workload { return s.w }

// Nodes says who holds the nodes now.
func (s *Simulator) Nodes() *cluster.Occupancy { return s.nodes }

// Queue holds the pending jobs. Jobs that wait for another to end are not in
// it yet.
func (s *Simulator) Queue() *cluster.Queue { return s.queue }

func (s *Simulator) job(i int32) *job {
	if int(i) < len(s.w.jobs) {
		return &s.w.jobs[i]
	}
	return &s.extra[int(i)-len(s.w.jobs)].job
}

// Submit adds a job now, whatever its own submission time says, and returns
// its number among the extra ones. Jobs of one service share the user. The
// job's Start and End count only for its duration.
func (s *Simulator) Submit(t trace.Job) (int, error) {
	t.End = s.now + t.Duration()
	t.Submit, t.Start = s.now, s.now
	if _, _, err := s.w.accepts(&t); err != nil {
		return 0, err
	}
	j, err := s.w.prepare(&t, s.outsider())
	if err != nil {
		return 0, err
	}
	s.extra = append(s.extra, Extra{job: j})
	number := len(s.extra) - 1
	s.enqueue(int32(len(s.w.jobs)+number), s.now)
	s.pass(s.now)
	return number, nil
}

// outsider returns the user of the jobs that are submitted from outside, who has a
// place from then on.
func (s *Simulator) outsider() int32 {
	if len(s.running) == s.w.users {
		s.running = append(s.running, 0)
		s.floor.Running = s.running
	}
	return int32(s.w.users)
}

// Extra returns the state of a job that Submit added.
func (s *Simulator) Extra(number int) *Extra { return &s.extra[number] }

// IsExtra reports whether a job number, as OnStart gets it, names a job
// that Submit added.
func (s *Simulator) IsExtra(job int32) bool { return int(job) >= len(s.w.jobs) }

// SubmitTime returns the submission time of a job.
func (s *Simulator) SubmitTime(job int32) int64 { return s.job(job).submit }

// nextEvent returns the time of the next event.
func (s *Simulator) nextEvent() int64 {
	at := int64(never)
	if s.next < s.stop {
		at = s.w.jobs[s.next].submit + s.shift
	}
	if end, ok := s.nodes.NextEnd(); ok {
		at = min(at, end)
	}
	for i := range s.held {
		at = min(at, s.held[i].at)
	}
	if s.edge < len(s.w.edges) && (s.queue.Len() > 0 || at < never) {
		at = min(at, s.w.edges[s.edge])
	}
	if s.dirty && s.queue.Len() > 0 {
		at = min(at, s.lastPass+s.w.Config.Backfill.IntervalSeconds)
	}
	if at == never {
		return never
	}
	return max(at, s.now)
}

// Step goes to the next instant at which something happens and lets it
// happen. It returns false when nothing will happen any more.
func (s *Simulator) Step() bool {
	at := s.nextEvent()
	if at == never {
		return false
	}
	s.now = at
	s.happen(at)
	return true
}

// happen lets everything happen that is due: ends, then nodes down or up,
// then eligibilities, then submissions, then passes.
func (s *Simulator) happen(at int64) {
	changed := false
	for {
		end, ok := s.nodes.NextEnd()
		if !ok || end > at {
			break
		}
		s.end()
		changed = true
	}
	for s.edge < len(s.w.edges) && s.w.edges[s.edge] <= at {
		s.edge++
		changed = true
	}
	changed = s.release(at) || changed
	for s.next < s.stop && s.w.jobs[s.next].submit+s.shift <= at {
		s.submit(int32(s.next))
		s.next++
		changed = true
	}
	if changed {
		s.pass(at)
		return
	}
	s.backfill(at)
}

// submit admits the next job of the workload, unless it follows another: then
// that one's end will. One that follows a job from before the simulation
// waits for no other.
func (s *Simulator) submit(i int32) {
	j := &s.w.jobs[i]
	if !j.rejected && int(j.after) < s.first {
		s.enqueue(i, j.submit+s.shift)
	}
}

func (s *Simulator) enqueue(i int32, eligible int64) {
	j := s.job(i)
	submit := j.submit
	if !s.IsExtra(i) {
		submit += s.shift
	}
	s.queue.Add(cluster.Request{
		Job: i, Nodes: j.nodes, User: j.user, Limit: j.limit,
		Submit: submit, Eligible: eligible, Tier: j.tier, Static: j.static, Share: j.share,
	})
}

// release admits held jobs whose time has come.
func (s *Simulator) release(at int64) bool {
	kept := s.held[:0]
	for _, h := range s.held {
		if h.at <= at {
			s.enqueue(h.job, h.at)
		} else {
			kept = append(kept, h)
		}
	}
	released := len(kept) < len(s.held)
	s.held = kept
	return released
}

// end lets the job end that ends first.
func (s *Simulator) end() {
	a := s.nodes.Release()
	s.running[a.User]--
	s.use(s.job(a.Job), -1)
	if s.IsExtra(a.Job) {
		s.extra[int(a.Job)-len(s.w.jobs)].Finished = true
		return
	}
	if s.length == nil {
		s.ended = append(s.ended, past{a.Job, a.Start})
	}
	s.finish(a.Job, a.End)
}

// finish lets the jobs that follow one that has ended become eligible.
func (s *Simulator) finish(i int32, end int64) {
	for _, d := range s.w.dependents[i] {
		s.held = append(s.held, hold{max(end, s.w.jobs[d].submit), d})
	}
}

// pass runs the scheduler after an event, and the backfill pass if one is due.
func (s *Simulator) pass(at int64) {
	s.dirty = s.plan.Periodic()
	s.floor.Now = at
	s.plan.Event(&s.floor)
	s.backfill(at)
}

func (s *Simulator) backfill(at int64) {
	if !s.dirty || at < s.lastPass+s.w.Config.Backfill.IntervalSeconds {
		return
	}
	s.dirty, s.lastPass = false, at
	s.floor.Now = at
	s.plan.Periodically(&s.floor)
}

// start takes nodes for a request.
func (s *Simulator) start(r *cluster.Request, place *cluster.Place, outOfTurn bool) {
	j := s.job(r.Job)
	duration := j.duration
	if s.length != nil && !s.IsExtra(r.Job) {
		duration = min(s.length(r.Job, 0), j.limit)
	}
	a := cluster.Allocation{
		Job: r.Job, Nodes: r.Nodes, User: r.User,
		Start: s.now, Until: s.now + r.Limit, End: s.now + duration, Place: place,
	}
	s.nodes.Take(a)
	s.running[r.User]++
	s.use(j, 1)
	if s.IsExtra(r.Job) {
		e := &s.extra[int(r.Job)-len(s.w.jobs)]
		e.Started, e.Start = true, s.now
		e.Backfilled, e.barred = outOfTurn, r.Barred
	} else if s.length == nil { // futures end with their question
		s.waits = append(s.waits, float64(s.now-j.submit))
	}
	if s.OnStart != nil {
		s.OnStart(r.Job, s.now)
	}
}

// RunUntil lets everything happen up to and at an instant.
func (s *Simulator) RunUntil(at int64) {
	for next := s.nextEvent(); next <= at && next != never; next = s.nextEvent() {
		s.now = next
		s.happen(next)
	}
	s.now = max(s.now, at)
}

// RunUntilStarted lets time go on until an extra job has started, or nothing
// happens any more, or an instant has passed. It reports whether the job has
// started.
func (s *Simulator) RunUntilStarted(number int, until int64) bool {
	for !s.extra[number].Started && s.nextEvent() <= until && s.Step() {
	}
	return s.extra[number].Started
}

// Simulate runs the whole workload and returns when each job started.
// progress, which may be nil, gets now and then how many jobs have been
// submitted.
func (w *Workload) Simulate(ctx context.Context, progress func(submitted int)) (*Result, error) {
	r := newResult(w)
	s := w.New()
	s.OnStart = func(job int32, at int64) {
		r.Starts[job] = at
		if r.Places != nil {
			r.Places[job] = s.nodes.PlaceOf(job)
		}
	}
	for steps := 1; s.Step(); steps++ {
		if steps%4096 > 0 {
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if progress != nil {
			progress(s.next)
		}
	}
	return r, nil
}
