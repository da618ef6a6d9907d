package policy

import "time"

// Control does for each client what its configuration says, as Deft does: a
// client of priority 0 under the gate stops while a job runs of a client above
// 0 that is under the gate too; GateSync adds a synchronization point every
// Sync launches, GateEvent keeps two groups of Event launches in flight at most.
type Control struct{}

var _ Policy = Control{}

// Decide looks at the clients under the gate; the others are free.
func (Control) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	urgent := top(clients, func(c Client) bool { return c.Active && c.Gate }) > 0
	for i, c := range clients {
		if !c.Gate {
			continue
		}
		directives[i].Closed = urgent && c.Priority <= 0
		switch {
		case c.GateEvent:
			directives[i].InFlight = 2 * c.Event
		case c.GateSync:
			directives[i].SyncEvery = c.Sync
		}
	}
	return Never
}
