package task

// Counts holds the numbers of events by their outcome.
type Counts struct {
	Created    uint64 `json:"created"`    // tasks created on this rank
	Started    uint64 `json:"started"`    // bodies begun, nested ones included
	Ended      uint64 `json:"ended"`      // bodies ended
	Cancelled  uint64 `json:"cancelled"`  // of those created, discarded before they began
	Remote     uint64 `json:"remote"`     // of those started, tasks that came from another rank
	Sent       uint64 `json:"sent"`       // tasks sent to other ranks
	Dropped    uint64 `json:"dropped"`    // events lost because a ring was full, or for want of a ring
	Unread     uint64 `json:"unread"`     // of those ended, tasks that came faster than they were read, and are only counted
	Incomplete uint64 `json:"incomplete"` // starts and ends whose other half is missing, and runs whose creation is
	Bad        uint64 `json:"bad"`        // slots that no writer of this layout wrote
	Waits      uint64 `json:"waits"`      // taskwaits entered, over all threads
	WaitsLeft  uint64 `json:"waits_left"` // taskwaits left, over all threads
	Threads    uint64 `json:"threads"`    // workers that joined
	Loads      uint64 `json:"loads"`      // iteration loads from the patched library
}

// Counts returns the counts so far. What was dropped or started is
// that of the rings given to the last Drain.
func (t *Tracker[M]) Counts() Counts {
	c := t.counts
	c.Created = c.Created + t.unread.Created
	c.Started = c.Started + t.unread.Started
	c.Ended = c.Ended + t.unread.Ended
	c.Unread = t.unread.Ended
	c.Waits, c.WaitsLeft = c.Waits+t.unread.Waits, c.WaitsLeft+t.unread.Waits
	c.Cancelled += t.unread.Cancelled
	return c
}

// maxOpen bounds the tasks that are kept as open although they have ended: their end was
// dropped or only counted.
const maxOpen = 1 << 14

// forget closes the oldest open tasks but those that run, until at most a number are open.
func (t *Tracker[M]) forget(most int) int {
	var running []uint64
	for _, task := range t.started {
		if task != nil {
			running = append(running, task.Token)
		}
	}
	return t.tasks.forget(most, running)
}
