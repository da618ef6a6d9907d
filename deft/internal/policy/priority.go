package policy

import "time"

// Priority stops every client while a job runs of one that is more urgent.
// There may be any number of levels. A client that is not of the highest level
// registered has little device time in flight ([DefaultInFlight], or a
// synchronization point every Sync launches where it names them), so that what it
// has queued when it is stopped is soon done.
type Priority struct{}

var _ Policy = Priority{}

// Decide closes the gates below the most urgent running job.
func (Priority) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	highest, urgent := top(clients, registered), top(clients, active)
	for i, c := range clients {
		directives[i].Closed = c.Priority < urgent
		if c.Priority < highest {
			c.bound(&directives[i])
		}
	}
	return Never
}
