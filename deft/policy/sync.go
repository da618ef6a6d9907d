package policy

import (
	"cmp"
	"time"
)

// Sync sets synchronization points and never closes a gate: every Sync launches
// (16 where it names none) of each client that is not of the highest level, or
// of all where there is one level. On a device that serves kernels in order of
// launch this bounds how long a more urgent job waits behind them.
type Sync struct{}

var _ Policy = Sync{}

// Decide bounds the queues.
func (Sync) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	for i, c := range clients {
		if yields(c, clients) {
			directives[i].SyncEvery = cmp.Or(c.Sync, DefaultSync)
		}
	}
	return Never
}

// yields says whether a client's queue is to be bounded: it is below another,
// or all are equal.
func yields(c Client, clients []Client) bool {
	highest, lowest := c.Priority, c.Priority
	for _, other := range clients {
		highest, lowest = max(highest, other.Priority), min(lowest, other.Priority)
	}
	return c.Priority < highest || lowest == highest
}
