package scheduler

// FCFS starts jobs in the order of submission and nothing out of turn.
const FCFS Discipline = "fcfs"

func fcfs() Way {
	return Way{
		Event:    (*Plan).strict,
		Promises: func(Rules) Promises { return Promises{InOrder: true} },
	}
}
