package cluster

// Plan is a set of rules made ready to run. It keeps scratch space, so each
// goroutine needs its own.
type Plan struct {
	Rules     Rules
	scheduler Scheduler
	profile   Profile
	fitting   []fitting
}

// Clone returns a plan of the same rules with scratch space of its own.
func (p *Plan) Clone() *Plan { return &Plan{Rules: p.Rules, scheduler: p.scheduler} }

// fitting is a request that might start in a pass, at its place in the queue.
type fitting struct {
	place, nodes int
	share        *Share
	seconds      int64
}

// Pass holds the input of a pass over the queue: the pending jobs, the machine, the number of
// running jobs of each user, and a function that starts a job. Start must take the nodes at
// once and count the job as running; place holds its nodes on a machine with kinds, and
// outOfTurn means that a job before it in the queue stays behind, which is backfill.
type Pass struct {
	Now     int64
	Queue   *Queue
	Nodes   *Occupancy
	Running []int32 // by user; not looked at without a limit of users
	// Admits reports whether the limits of a job's groups allow one more; nil is yes.
	Admits func(r *Request) bool
	Start  func(r *Request, place *Place, outOfTurn bool)
}

// isBlocked reports whether a request's user runs as many jobs as allowed.
func (p *Plan) isBlocked(f *Pass, r *Request) bool {
	if p.Rules.UserLimit > 0 && int(f.Running[r.User]) >= p.Rules.UserLimit || f.Admits != nil && !f.Admits(r) {
		r.Barred = -1
		return true
	}
	if r.Barred < 0 {
		r.Barred = f.Now
	}
	return false
}

// Periodic reports whether the discipline has a backfill pass of its own that
// runs on an interval.
func (p *Plan) Periodic() bool { return p.scheduler.Periodic != nil }

// Event runs what the discipline does after every event.
func (p *Plan) Event(f *Pass) { p.serve(f, p.scheduler.Event) }

// Periodically runs the pass of a discipline that has one on an interval.
func (p *Plan) Periodically(f *Pass) { p.serve(f, p.scheduler.Periodic) }

func (p *Plan) serve(f *Pass, pass func(*Plan, *Pass)) {
	if f.Nodes.Free() == 0 || f.Queue.Len() == 0 {
		return
	}
	f.Queue.Advance(f.Now)
	pass(p, f)
	f.Queue.sweep()
}

// begin starts a request and keeps the books of the pass.
func (p *Plan) begin(f *Pass, r *Request, place *Place, outOfTurn bool) {
	f.Start(r, place, outOfTurn)
	f.Queue.markStarted(r)
}

// reserveNow reserves nodes for a request from now on.
func (p *Plan) reserveNow(f *Pass, r *Request, seconds int64) *Place {
	return p.profile.Reserve(f.Now, f.Now+seconds, int(r.Nodes), r.Share)
}

// strict starts jobs in turn until one does not fit. Where nodes are of kinds,
// those that it could have had are kept from the jobs behind it, and others go
// on (Slurm's main loop leaves a partition at the first job that cannot start).
func (p *Plan) strict(f *Pass) {
	planned := f.Nodes.NeedsPlan(f.Now)
	if planned {
		f.Nodes.PlanNow(&p.profile, f.Now)
	}
	w := walk{q: f.Queue, now: f.Now}
	seen, outOfTurn := 0, false
	for r := w.next(); r != nil; r = w.next() {
		if seen++; p.Rules.QueueDepth > 0 && seen > p.Rules.QueueDepth {
			return
		}
		if p.isBlocked(f, r) {
			outOfTurn = true
			continue
		}
		if int(r.Nodes) > f.Nodes.Free() || planned && !p.profile.Fits(int(r.Nodes), r.Share, r.Limit) {
			outOfTurn = true
			if planned && p.profile.Close(r.Share) {
				continue
			}
			return
		}
		var place *Place
		if planned {
			place = p.reserveNow(f, r, max(r.Limit, 1))
		}
		p.begin(f, r, place, outOfTurn)
		if f.Nodes.Free() == 0 {
			return
		}
	}
}

// reserver takes nodes out of a profile, from from until to.
type reserver func(p *Profile, from, to int64, nodes int, share *Share)

// reserving gives every job it considers the earliest place that does not delay those before
// it, and starts those whose place is now. b bounds the number of jobs and the time until a
// place begins; 0 is no bound. promise reserves for a job that is yet to start.
func (p *Plan) reserving(f *Pass, b Backfill, promise reserver) {
	depth := b.MaxJobTest
	window := b.WindowMinutes * 60
	resolution := b.ResolutionSeconds
	length := func(r *Request) int64 { return RoundUp(max(r.Limit, 1), 0, resolution) }
	// Only a job that fits now can start now, and nothing that a pass does makes room:
	// behind the last that still fits, it would change nothing.
	free := f.Nodes.Free()
	p.fitting = p.fitting[:0]
	w := walk{q: f.Queue, now: f.Now}
	for n, r := 1, w.next(); r != nil && (depth == 0 || n <= depth); n, r = n+1, w.next() {
		if int(r.Nodes) <= free && !p.isBlocked(f, r) && (r.Share == nil || f.Nodes.Room(int(r.Nodes), r.Share)) {
			p.fitting = append(p.fitting, fitting{n, int(r.Nodes), r.Share, length(r)})
		}
	}
	if len(p.fitting) == 0 {
		return
	}
	f.Nodes.Plan(&p.profile, f.Now, resolution)
	w = walk{q: f.Queue, now: f.Now}
	taken, outOfTurn := f.Now, false // from when on the profile has lost room
	for n := 1; p.goesOn(n, f.Now, taken); n++ {
		r := w.next()
		taken = forever
		if p.isBlocked(f, r) {
			outOfTurn = true
			continue
		}
		nodes, seconds := int(r.Nodes), length(r)
		at := p.profile.Earliest(nodes, r.Share, seconds)
		switch {
		case at == f.Now:
			taken = at
			p.begin(f, r, p.reserveNow(f, r, seconds), outOfTurn)
		case window == 0 || at < f.Now+window:
			taken, outOfTurn = at, true
			promise(&p.profile, at, at+seconds, nodes, r.Share)
		default:
			outOfTurn = true
		}
	}
}

// goesOn says that a request at a place of the queue or behind it may still start
// now. The profile has lost room from taken on since it was asked last.
func (p *Plan) goesOn(place int, now, taken int64) bool {
	for n := len(p.fitting) - 1; n >= 0 && p.fitting[n].place >= place; n-- {
		if c := &p.fitting[n]; taken-now >= c.seconds || p.profile.Fits(c.nodes, c.share, c.seconds) {
			return true
		}
		p.fitting, taken = p.fitting[:n], now
	}
	return false
}
