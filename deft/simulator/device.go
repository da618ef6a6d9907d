package simulator

import (
	"math"
	"time"
)

// never is the time of what does not happen.
const never = time.Duration(math.MaxInt64)

// queue is a first-in-first-out queue of kernels in a ring.
type queue struct {
	ring       []kernel
	head, size int
}

// kernel is a launch on the device: one kernel, or a graph of several.
type kernel struct {
	client  int
	kernels int
	time    time.Duration
}

func (q *queue) push(k kernel) {
	if q.size == len(q.ring) {
		grown := make([]kernel, max(64, 2*len(q.ring)))
		for i := range q.size {
			grown[i] = q.ring[(q.head+i)%len(q.ring)]
		}
		q.ring, q.head = grown, 0
	}
	at := q.head + q.size
	if at >= len(q.ring) {
		at -= len(q.ring)
	}
	q.ring[at] = k
	q.size++
}

func (q *queue) pop() kernel {
	k := q.ring[q.head]
	if q.head++; q.head == len(q.ring) {
		q.head = 0
	}
	q.size--
	return k
}

// device runs one kernel at a time, from one queue or from one for each client.
type device struct {
	queues  []queue // one under FIFO
	slice   time.Duration
	turn    int           // whose slice it is
	until   time.Duration // its end
	running kernel
	ends    time.Duration // of running; never when idle
	began   time.Duration // of running
	queued  int           // kernels waiting and running, those of graphs included
}

func newDevice(c *Config) *device {
	d := &device{queues: make([]queue, 1), ends: never}
	if c.Discipline == TimeSlice {
		d.queues = make([]queue, len(c.Clients))
		d.slice = c.Slice
		if d.slice == 0 {
			d.slice = DefaultSlice
		}
	}
	return d
}

// launch puts a kernel into the queue.
func (d *device) launch(k kernel) {
	q := 0
	if len(d.queues) > 1 {
		q = k.client
	}
	d.queues[q].push(k)
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
	d.running, d.began = d.queues[q].pop(), now
	d.ends = now + d.running.time
	return true
}

// pick is the queue to serve. A slice ends early where its client has no kernel.
func (d *device) pick(now time.Duration) (int, bool) {
	if len(d.queues) == 1 {
		return 0, d.queues[0].size > 0
	}
	if now < d.until && d.queues[d.turn].size > 0 {
		return d.turn, true
	}
	for i := range d.queues {
		q := (d.turn + 1 + i) % len(d.queues)
		if d.queues[q].size > 0 {
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
