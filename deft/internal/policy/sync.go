package policy

import (
	"cmp"
	"math"
	"time"
)

// DefaultInterval is the interval of sync for a client that has none of its own and has
// not ended a job.
const DefaultInterval = 16

// SyncCost is the assumed loss of a job at a synchronization point: its host wakes up,
// and the device waits for the next launch. Intervals chosen with it were close to the
// best on drawn pairs (simulator, TestChosenInterval).
const SyncCost = 30 * time.Microsecond

// Sync bounds the queues of the clients below the highest level, or of all clients if
// there is one level, and never closes a gate: by a synchronization point every Interval
// launches. On a device that runs kernels in order of launch this bounds how long a more
// urgent job waits behind them. A client without an interval gets the one of least cost
// for its jobs until now ([Harris]).
type Sync struct{}

var _ Policy = Sync{}

// Decide bounds the queues.
func (Sync) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	for i, c := range clients {
		if isBounded(c, clients) {
			directives[i].SyncEvery = cmp.Or(c.Interval, c.bestInterval())
		}
	}
	return Never
}

// bestInterval returns the interval of least cost for the client's jobs until now.
func (c Client) bestInterval() int {
	done, jobs := float64(c.Launches)-float64(c.InFlight), float64(c.Jobs)
	if done <= 0 || jobs <= 0 {
		return DefaultInterval
	}
	return cmp.Or(Harris(float64(SyncCost)*float64(c.Launches)/jobs, float64(c.GPU)/done), DefaultInterval)
}

// Harris returns the interval N of least cost setup/N + delay·N/2, at least 1:
// sqrt(2·setup/delay), the economic order quantity (F. W. Harris, "How many parts to make
// at once", 1913). Setup is the cost of a synchronization point at each launch of a job;
// delay is the device time of a kernel, since an urgent job finds half of the N kernels
// still queued. Both have the same unit. It returns 0 if delay is not above 0 or setup is
// below 0.
func Harris(setup, delay float64) int {
	if !(delay > 0) || !(setup >= 0) {
		return 0
	}
	return int(max(1, math.Round(math.Sqrt(min(2*setup/delay, math.MaxInt32)))))
}

// isBounded says that a client's queue is bounded: another one is more urgent, or all are
// equal.
func isBounded(c Client, clients []Client) bool {
	highest, lowest := c.Priority, c.Priority
	for _, other := range clients {
		highest, lowest = max(highest, other.Priority), min(lowest, other.Priority)
	}
	return c.Priority < highest || lowest == highest
}
