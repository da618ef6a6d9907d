package cluster

// FCFS starts jobs in the order of submission and nothing out of turn.
const FCFS Discipline = "fcfs"

func fcfs() Scheduler {
	return Scheduler{Event: (*Plan).strict, InOrder: true}
}
