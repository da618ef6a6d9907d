package policy

import "time"

// Sync sets synchronization points and never closes a gate: every Sync launches
// of a client that names an interval, every 16 of one that does not and is not
// of the highest level. On a device that serves kernels in order of launch this
// bounds how long a more urgent job waits behind it.
type Sync struct{}

var _ Policy = Sync{}

// Decide bounds the queues.
func (Sync) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	highest := top(clients, registered)
	for i, c := range clients {
		if c.Sync > 0 || c.Priority < highest {
			directives[i].SyncEvery = c.sync()
		}
	}
	return Never
}
