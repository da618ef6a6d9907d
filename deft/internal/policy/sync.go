package policy

import (
	"cmp"
	"time"

	"github.com/foretime/foretime/deft/internal/predictor"
)

// DefaultSync is the interval of sync and event for a client that names none and
// has not ended a job.
const DefaultSync = 16

// SyncCost is what a job is taken to lose at a synchronization point: that its host
// wakes, and that the device waits for its next launch. By it the chosen intervals
// were near the best on pairs that were drawn (simulator, TestChosenInterval).
const SyncCost = 30 * time.Microsecond

// Sync sets synchronization points and never closes a gate: every Sync launches of
// each client that is not of the highest level, or of all where there is one level.
// On a device that serves kernels in order of launch this bounds how long a more
// urgent job waits behind them. Where a client names no interval it is the one of
// least cost ([predictor.Interval]).
type Sync struct{}

// Event bounds how many launches are in flight without making the host wait for
// an empty queue: two groups of Event launches, where it names none as many as Sync
// has between two points. It never closes a gate.
type Event struct{}

var _, _ Policy = Sync{}, Event{}

// Decide bounds the queues.
func (Sync) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	for i, c := range clients {
		if yields(c, clients) {
			directives[i].SyncEvery = cmp.Or(c.Sync, c.interval())
		}
	}
	return Never
}

// Decide bounds the queues.
func (Event) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	for i, c := range clients {
		if yields(c, clients) {
			directives[i].InFlight = cmp.Or(2*c.Event, c.interval())
		}
	}
	return Never
}

// interval is the best N for what the client's jobs were until now.
func (c Client) interval() int {
	done, jobs := float64(c.Launches)-float64(c.InFlight), float64(c.Jobs)
	if done <= 0 || jobs <= 0 {
		return DefaultSync
	}
	return cmp.Or(predictor.Interval(float64(SyncCost)*float64(c.Launches)/jobs, float64(c.GPU)/done), DefaultSync)
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
