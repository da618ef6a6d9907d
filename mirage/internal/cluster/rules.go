package cluster

import (
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/registry"
)

// ErrRules is returned when settings are out of range or contradict each other.
var ErrRules = errors.New("invalid scheduling rules")

// Rules are the settings of a scheduler. Use Defaults and change what differs.
type Rules struct {
	Discipline Discipline `json:"scheduler" help:"slurm, easy, conservative or fcfs"`
	// UserLimit is the number of jobs of one user that may run at once; 0 is no limit.
	UserLimit int `json:"user_limit,omitempty" help:"jobs that a user may run at once; 0 is no limit"`
	// LoggedPriority adds the priority that the log holds for a job to its own.
	LoggedPriority bool     `json:"logged_priority,omitempty" help:"add the priority in the log to the computed one"`
	Weights        Weights  `json:"weights"`
	Backfill       Backfill `json:"backfill"`
	// QueueDepth is the number of jobs that the priority pass considers; 0 is all.
	QueueDepth int `json:"default_queue_depth,omitempty" help:"jobs that the priority pass considers; 0 is all"`
}

// Weights are the weights of a job's multifactor priority: the sum of each
// weight times its factor.
type Weights struct {
	// Age times min(1, time since eligible / MaxAgeDays).
	Age        float64 `json:"age" help:"priority points for the largest age"`
	MaxAgeDays float64 `json:"max_age_days" help:"age in days from which it no longer grows"`
	// Size times nodes / nodes of the machine.
	Size float64 `json:"size" help:"priority points of a job as large as the cluster"`
	// Logged times the priority in the log, if LoggedPriority is on.
	Logged float64 `json:"logged" help:"factor on the logged priority"`
}

// Backfill are the settings of Slurm's backfill pass.
type Backfill struct {
	IntervalSeconds   int64 `json:"bf_interval" help:"seconds between backfill passes"`
	WindowMinutes     int64 `json:"bf_window" help:"minutes that a backfill pass plans ahead"`
	ResolutionSeconds int64 `json:"bf_resolution" help:"seconds per slot of the backfill plan; 0 is exact"` // 0 plans to the second
	MaxJobTest        int   `json:"bf_max_job_test" help:"jobs that a backfill pass considers"`
}

// Defaults returns the settings of a discipline: those that its own Defaults
// sets, and a week to the greatest age.
func Defaults(d Discipline) Rules {
	r := Rules{Discipline: d}
	r.Weights.Logged = 1
	r.Weights.MaxAgeDays = 7
	if s, err := Disciplines().Find(string(d)); err == nil && s.Defaults != nil {
		s.Defaults(&r)
	}
	return r
}

// Plan checks the rules and makes them ready to run. The error wraps ErrRules.
func (r Rules) Plan() (*Plan, error) {
	w, b := r.Weights, r.Backfill
	s, err := Disciplines().Find(string(r.Discipline))
	if err != nil {
		return nil, fmt.Errorf("%w: scheduler %w", ErrRules, err)
	}
	for _, x := range []float64{w.Age, w.MaxAgeDays, w.Size, w.Logged} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return nil, fmt.Errorf("%w: weight %v, want a number from 0", ErrRules, x)
		}
	}
	switch {
	case r.UserLimit < 0 || r.QueueDepth < 0 || b.MaxJobTest < 0:
		return nil, fmt.Errorf("%w: user_limit, default_queue_depth or bf_max_job_test is negative", ErrRules)
	case b.IntervalSeconds < 0 || b.WindowMinutes < 0 || b.ResolutionSeconds < 0:
		return nil, fmt.Errorf("%w: bf_interval, bf_window or bf_resolution is negative", ErrRules)
	case w.Age > 0 && w.MaxAgeDays == 0:
		return nil, fmt.Errorf("%w: weights.age needs weights.max_age_days", ErrRules)
	case s.InOrder && (r.LoggedPriority || w.Age > 0 || w.Size > 0):
		return nil, fmt.Errorf("%w: %s has no priorities", ErrRules, r.Discipline)
	}
	return &Plan{Rules: r, scheduler: s}, nil
}

// Static returns the part of a job's priority that does not change with time: of a job
// that takes a share of the machine's nodes.
func (r *Rules) Static(share, logged float64) float64 {
	p := r.Weights.Size * share
	if r.LoggedPriority {
		p += r.Weights.Logged * logged
	}
	return p
}

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
