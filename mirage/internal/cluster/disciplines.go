package cluster

import "github.com/foretime/foretime/shared/registry"

// Discipline names how the queue is served.
type Discipline string

const (
	// Slurm is a strict pass on events and a backfill pass on an interval
	// (sched_config of Slurm's documents).
	Slurm Discipline = "slurm"
	// EASY lets jobs overtake as long as they do not delay the first one (Lifka,
	// JSSPP 1995).
	EASY Discipline = "easy"
	// Conservative lets jobs overtake as long as they delay no other (Mu'alem and
	// Feitelson, IEEE TPDS 12(6), 2001).
	Conservative Discipline = "conservative"
	// FCFS starts jobs in the order of submission and nothing out of turn.
	FCFS Discipline = "fcfs"
)

// Scheduler serves the queue by one discipline.
type Scheduler struct {
	// Event runs after every event.
	Event func(*Plan, *Pass)
	// Periodic, where set, is done at most every Backfill.IntervalSeconds.
	Periodic func(*Plan, *Pass)
	// Defaults, where set, changes the settings it begins with.
	Defaults func(*Rules)
	// InOrder says that jobs start in the order of submission, without
	// priorities.
	InOrder bool
}

// Disciplines returns the disciplines by name; one more is a line here and a file.
func Disciplines() registry.List[Scheduler] {
	return registry.List[Scheduler]{
		{Name: string(Slurm), Help: "a pass in priority order on events, and a backfill pass at an interval", New: Scheduler{Event: (*Plan).strict, Periodic: (*Plan).backfilling, Defaults: slurmDefaults}},
		{Name: string(EASY), Help: "EASY backfill: no job may delay the first in the queue", New: Scheduler{Event: (*Plan).easy}},
		{Name: string(Conservative), Help: "conservative backfill: no job may delay any before it", New: Scheduler{Event: (*Plan).conservative}},
		{Name: string(FCFS), Help: "first come, first served", New: Scheduler{Event: (*Plan).strict, InOrder: true}},
	}
}

// slurmDefaults sets 7000 points for age, full after seven days, and 100 for size, a
// backfill pass each 30 s over 2880 minutes, exact, that looks at 1000 jobs.
func slurmDefaults(r *Rules) {
	r.Weights.Age, r.Weights.Size = 7000, 100
	r.Backfill = Backfill{IntervalSeconds: 30, WindowMinutes: 2880, MaxJobTest: 1000}
	r.QueueDepth = 1000
}

func (p *Plan) backfilling(f *Pass) { p.reserving(f, p.Rules.Backfill, (*Profile).Promise) }

// conservative starts jobs that delay no other.
func (p *Plan) conservative(f *Pass) {
	p.reserving(f, Backfill{}, func(p *Profile, from, to int64, nodes int, s *Share) { p.Reserve(from, to, nodes, s) })
}

// easy starts jobs in order. The first that does not fit gets a reservation, one per partition
// on a machine with kinds of nodes, and later ones start if they do not delay it.
func (p *Plan) easy(f *Pass) {
	reserved, outOfTurn := map[string]bool{}, false
	f.Nodes.Plan(&p.profile, f.Now, 0)
	w := walk{q: f.Queue, now: f.Now}
	for r := w.next(); r != nil; r = w.next() {
		nodes := int(r.Nodes)
		switch {
		case p.isBlocked(f, r):
			outOfTurn = true
		case p.profile.Fits(nodes, r.Share, r.Limit):
			p.begin(f, r, p.reserveNow(f, r, max(r.Limit, 1)), outOfTurn)
		case r.isFirst(reserved):
			at := p.profile.Earliest(nodes, r.Share, r.Limit)
			p.profile.Reserve(at, at+max(r.Limit, 1), nodes, r.Share)
			outOfTurn = true
		}
		if f.Nodes.Free() == 0 {
			return
		}
	}
}

// isFirst reports whether no request before it has a reservation in one of its partitions,
// and that it has one from now on.
func (r *Request) isFirst(reserved map[string]bool) bool {
	names := []string{everywhere}
	if r.Share != nil && r.Share.partitions != nil {
		names = r.Share.partitions
	}
	first := false
	for _, name := range names {
		first = first || !reserved[name]
		reserved[name] = true
	}
	return first && !(reserved[everywhere] && names[0] != everywhere)
}

// everywhere names all partitions at once.
const everywhere = ""
