package simulator

import (
	"cmp"
	"math"
	"time"
)

// never is the time of what does not happen.
const never = time.Duration(math.MaxInt64)

// kernel is a launch on the device: one kernel, or a graph of several.
type kernel struct {
	client  int
	kernels int
	time    time.Duration
}

// device runs one kernel at a time, from one queue or from one for each client.
type device struct {
	queues  [][]kernel // first in, first out; one under FIFO
	slice   time.Duration
	turn    int           // whose slice it is
	until   time.Duration // its end
	running kernel
	ends    time.Duration // of running; never when idle
	began   time.Duration // of running
	queued  int           // kernels waiting and running, those of graphs included
}

func newDevice(c *Config) *device {
	d := &device{queues: make([][]kernel, 1), ends: never}
	if c.Discipline == TimeSlice {
		d.queues = make([][]kernel, len(c.Clients))
		d.slice = cmp.Or(c.Slice, DefaultSlice)
	}
	return d
}

// launch puts a kernel into the queue.
func (d *device) launch(k kernel) {
	q := 0
	if len(d.queues) > 1 {
		q = k.client
	}
	d.queues[q] = append(d.queues[q], k)
	d.queued += k.kernels
}

// next takes up the next kernel where the device is idle, and reports whether
// it did.
func (d *device) next(now time.Duration) bool {
	if d.ends != never {
		return false
	}
	q, ok := d.pick(now)
	if !ok {
		return false
	}
	d.running, d.queues[q], d.began = d.queues[q][0], d.queues[q][1:], now
	d.ends = now + d.running.time
	return true
}

// pick is the queue to serve. A slice ends early where its client has no kernel.
func (d *device) pick(now time.Duration) (int, bool) {
	if len(d.queues) == 1 {
		return 0, len(d.queues[0]) > 0
	}
	if now < d.until && len(d.queues[d.turn]) > 0 {
		return d.turn, true
	}
	for i := range d.queues {
		q := (d.turn + 1 + i) % len(d.queues)
		if len(d.queues[q]) > 0 {
			d.turn, d.until = q, now+d.slice
			return q, true
		}
	}
	return 0, false
}

// done ends the running kernel.
func (d *device) done() kernel {
	k := d.running
	d.running, d.ends = kernel{client: -1}, never
	d.queued -= k.kernels
	return k
}
