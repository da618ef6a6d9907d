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
