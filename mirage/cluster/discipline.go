package cluster

import "github.com/foretime/foretime/shared/registry"

// Discipline names how the queue is served.
type Discipline string

// Scheduler is how a discipline serves the queue.
type Scheduler struct {
	// Event is what it does after every event.
	Event func(*Plan, *Pass)
	// Periodic, where set, is done at most every Backfill.IntervalSeconds.
	Periodic func(*Plan, *Pass)
	// Defaults, where set, changes the settings it begins with.
	Defaults func(*Rules)
	// InOrder says that jobs start in the order of submission, without
	// priorities.
	InOrder bool
}

// Disciplines are the disciplines by name; one more is a line here and a file.
func Disciplines() registry.List[Scheduler] {
	return registry.List[Scheduler]{
		{Name: string(Slurm), Help: "a strict pass on events and a backfill pass on an interval", New: slurm()},
		{Name: string(EASY), Help: "jobs overtake as long as they do not delay the first one", New: easy()},
		{Name: string(Conservative), Help: "jobs overtake as long as they delay no other", New: conservative()},
		{Name: string(FCFS), Help: "first come, first served: nothing out of turn", New: fcfs()},
	}
}
