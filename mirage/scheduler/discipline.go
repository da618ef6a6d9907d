package scheduler

import "github.com/foretime/foretime/shared/registry"

// Discipline names how the queue is served.
type Discipline string

// Way is how a discipline serves the queue.
type Way struct {
	// Event is what it does after every event.
	Event func(*Plan, *Floor)
	// Periodic, where set, is done at most every Backfill.IntervalSeconds.
	Periodic func(*Plan, *Floor)
	// Defaults, where set, changes the settings it begins with.
	Defaults func(*Rules)
	// Promises is what it keeps under some rules; nil is nothing.
	Promises func(Rules) Promises
}

// Promises are the properties of its starts that a discipline keeps, for
// whoever checks them.
type Promises struct {
	InOrder bool // jobs start in the order of submission, without priorities
	// HeadWithin is how many seconds ahead the first job's reservation, to the
	// second, may lie and still be kept; 0 keeps none.
	HeadWithin int64
	// AllReserved says that every job starts no later than the reservation it
	// was given when it was submitted, where limits are exact.
	AllReserved bool
}

// Disciplines are the disciplines by name; one more is a line here and a file.
func Disciplines() registry.List[Way] {
	return registry.List[Way]{
		{Name: string(Slurm), Help: "a strict pass on events and a backfill pass on an interval", New: slurm()},
		{Name: string(EASY), Help: "jobs overtake as long as they do not delay the first one", New: easy()},
		{Name: string(Conservative), Help: "jobs overtake as long as they delay nobody", New: conservative()},
		{Name: string(FCFS), Help: "first come, first served: nothing out of turn", New: fcfs()},
	}
}
