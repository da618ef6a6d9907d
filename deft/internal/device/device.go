package device

import (
	"math"
	"time"
)

// Never is the time of an event that does not happen.
const Never = time.Duration(math.MaxInt64)

// Kernel is a launch: one kernel, or a graph of several.
type Kernel struct {
	Client  int
	Kernels int           // that it consists of
	Time    time.Duration // that it takes on an idle device
	// Priority is that of its client, if the settings have Priorities.
	Priority int
	End      time.Duration // when it was done

	number uint64        // in order of launch
	queued time.Duration // when
}

// Device runs kernels. Make it with [New]. Times do not go back.
type Device struct {
	settings Settings
	queues   [][]Kernel // of each client, first in, first out
	left     []time.Duration
	started  []bool // the first of the queue has begun; left is the rest of it
	used     []time.Duration
	number   uint64

	clock   time.Duration
	running int // client on the device; -1 none
	last    int // whose context is loaded; -1 none
	began   time.Duration
	ended   time.Duration // of the kernel that ended last
	turnEnd time.Duration
}

// New returns an idle device for so many clients at time 0.
func New(s Settings, clients int) *Device {
	return &Device{
		settings: s.WithDefaults(), queues: make([][]Kernel, clients), left: make([]time.Duration, clients),
		started: make([]bool, clients), used: make([]time.Duration, clients), running: -1, last: -1,
	}
}

// Settings returns the settings with their defaults.
func (d *Device) Settings() Settings { return d.settings }

// Launch queues a kernel at a time to which the device has been advanced.
func (d *Device) Launch(k Kernel) {
	k.number, k.queued = d.number, d.clock
	d.number++
	d.queues[k.Client] = append(d.queues[k.Client], k)
}

// QueueLength returns how many launches of a client are waiting or running.
func (d *Device) QueueLength(client int) int { return len(d.queues[client]) }

// TimeOf returns the device time that a client has had, that of the running kernel included.
func (d *Device) TimeOf(client int) time.Duration { return d.used[client] }

// Running returns the kernel on the device.
func (d *Device) Running() (k Kernel, number uint64, ok bool) {
	if d.running < 0 {
		return Kernel{}, 0, false
	}
	k = d.queues[d.running][0]
	return k, k.number, true
}

// Next returns the time of the next change: the end of the running kernel or turn if
// nothing else is launched, Never if the device is idle.
func (d *Device) Next() time.Duration {
	if d.running < 0 {
		return Never
	}
	return d.clock + d.step()
}

// step returns the remaining time of the running kernel.
func (d *Device) step() time.Duration {
	if d.settings.Discipline == Turns {
		return min(d.left[d.running], max(d.turnEnd-d.clock, 0))
	}
	return d.left[d.running]
}

// Advance brings the device to a time and returns the kernels that were done until then,
// in order.
func (d *Device) Advance(now time.Duration) (done []Kernel) {
	for {
		d.chooseClient()
		if d.running < 0 {
			d.clock = max(d.clock, now)
			return done
		}
		i := d.running
		step := d.step()
		if d.clock >= now && step > 0 {
			return done
		}
		if d.clock < now {
			step = min(step, now-d.clock)
		}
		d.left[i] -= step
		d.used[i] += step
		d.clock += step
		if d.left[i] > 0 {
			continue
		}
		k := d.queues[i][0]
		k.End = d.clock
		done = append(done, k)
		d.queues[i], d.started[i] = d.queues[i][1:], false
		d.ended = d.clock
		if len(d.queues[i]) == 0 {
			d.queues[i] = nil
		}
	}
}

// chooseClient chooses the client that runs now. In turns, a change advances the clock.
func (d *Device) chooseClient() {
	next := d.running
	switch {
	case d.settings.Discipline == Turns:
		if next < 0 || len(d.queues[next]) == 0 || d.clock >= d.turnEnd {
			if next = d.nextClient(d.last); next >= 0 {
				if d.last >= 0 && next != d.last {
					d.clock += d.settings.Switch
				}
				d.turnEnd = d.clock + d.settings.Turn
			}
		}
	case next >= 0 && d.started[next]:
	case d.settings.Discipline == MPS:
		next = d.nextClient(d.last)
	default:
		next = d.firstClient()
	}
	if next >= 0 && !d.started[next] {
		d.start(next)
	}
	d.running = next
	if next >= 0 {
		d.last = next
	}
}

// start begins the first kernel of a client's queue. What it could run of it next to
// another client's kernel, which it waited for, is done already.
func (d *Device) start(i int) {
	k := d.queues[i][0]
	d.started[i], d.left[i] = true, k.Time
	if d.settings.Overlap > 0 && d.last >= 0 && d.last != i && d.ended == d.clock {
		waited := d.clock - max(k.queued, d.began)
		d.left[i] -= min(time.Duration(d.settings.Overlap*float64(k.Time)), waited)
	}
	d.began = d.clock
}

// nextClient returns the next client with kernels after another, in turn or of the highest
// priority; -1 if none.
func (d *Device) nextClient(last int) int {
	best := -1
	for n := range d.queues {
		i := (last + 1 + n) % len(d.queues)
		switch {
		case len(d.queues[i]) == 0:
		case best < 0 || d.settings.Priorities && d.queues[i][0].Priority > d.queues[best][0].Priority:
			best = i
		}
	}
	return best
}

// firstClient returns the client whose kernel was launched first; -1 if none.
func (d *Device) firstClient() int {
	best := -1
	for i, q := range d.queues {
		if len(q) > 0 && (best < 0 || q[0].number < d.queues[best][0].number) {
			best = i
		}
	}
	return best
}
