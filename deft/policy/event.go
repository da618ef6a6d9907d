package policy

import "time"

// Event bounds how many launches are in flight without making the host wait for
// an empty queue: two groups of Event launches for a client that names a group,
// 16 launches for one that does not and is not of the highest level. It never
// closes a gate.
type Event struct{}

var _ Policy = Event{}

// Decide bounds the queues.
func (Event) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	highest := top(clients, registered)
	for i, c := range clients {
		switch {
		case c.Event > 0:
			directives[i].InFlight = 2 * c.Event
		case c.Priority < highest:
			directives[i].InFlight = DefaultSync
		}
	}
	return Never
}
