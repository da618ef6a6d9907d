package policy

import (
	"cmp"
	"time"
)

// Event bounds how many launches are in flight without making the host wait for
// an empty queue: two groups of Event launches (16 launches where it names none)
// of each client that is not of the highest level, or of all where there is one
// level. It never closes a gate.
type Event struct{}

var _ Policy = Event{}

// Decide bounds the queues.
func (Event) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	for i, c := range clients {
		if yields(c, clients) {
			directives[i].InFlight = cmp.Or(2*c.Event, DefaultSync)
		}
	}
	return Never
}
