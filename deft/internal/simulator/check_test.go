package simulator

import (
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/policy"
)

// checker recomputes from the trace alone what must hold of every run. It keeps
// its own books: nothing of the simulator's state but the events.
type checker struct {
	clients   []Client
	inFlight  []int
	launched  []int
	queue     []int   // clients of the launches in order
	sizes     [][]int // of each client's launches in flight, kernels
	started   []bool  // clients whose first kernel in the queue the device has taken up
	directive []policy.Directive
	active    []bool
	now       time.Duration
	idleSince time.Duration // when the device had nothing left
	held      []bool        // closed, active and with nothing in flight for all of the idle time
	worstIdle time.Duration // longest time idle while somebody was held
	fifo      bool
	fault     error
}

func newChecker(c Config) *checker {
	n := len(c.Clients)
	return &checker{
		clients: c.Clients, inFlight: make([]int, n), launched: make([]int, n), started: make([]bool, n),
		sizes: make([][]int, n), directive: make([]policy.Directive, n), active: make([]bool, n), held: make([]bool, n), fifo: c.Device.Discipline == device.FIFO || c.Device.Discipline == "",
	}
}

func (k *checker) fail(format string, args ...any) {
	if k.fault == nil {
		k.fault = fmt.Errorf("at %v: %s", k.now, fmt.Sprintf(format, args...))
	}
}

func (k *checker) see(e Event) {
	if e.At < k.now {
		k.fail("time goes back to %v", e.At)
	}
	if e.At > k.now && !slices.Contains(k.started, true) && len(k.queue) > 0 {
		k.fail("the device idles with %d kernels queued", len(k.queue))
	}
	k.now = e.At
	i := e.Client
	switch e.Kind {
	case Begun:
		k.active[i] = true
	case Ended:
		if k.inFlight[i] != 0 {
			k.fail("client %d ends a job with %d in flight", i, k.inFlight[i])
		}
		if k.launched[i]%len(k.clients[i].Kernels) != 0 {
			k.fail("client %d ends a job after %d launches", i, k.launched[i])
		}
		k.active[i], k.held[i] = false, false
	case Directed:
		k.directive[i] = e.Directive
		k.held[i] = k.held[i] && e.Directive.Closed
	case Launched:
		d := k.directive[i]
		if d.Closed {
			k.fail("client %d launches through a closed gate", i)
		}
		size := k.size(i)
		before := k.inFlight[i]
		k.inFlight[i] += size
		if busy := time.Duration(k.inFlight[i]) * k.mean(i); before > 0 && d.InFlightTime > 0 && busy > d.InFlightTime {
			k.fail("client %d has %v in flight, bound %v", i, busy, d.InFlightTime)
		}
		k.launched[i] += size
		k.sizes[i] = append(k.sizes[i], size)
		k.queue = append(k.queue, i)
	case Started:
		k.start(i)
	case Done:
		if !k.started[i] {
			k.fail("a kernel of client %d is done that did not run", i)
		}
		k.inFlight[i] -= k.sizes[i][0]
		k.sizes[i] = k.sizes[i][1:]
		k.started[i] = false
		if len(k.queue) == 0 && !slices.Contains(k.started, true) {
			k.idle()
		}
	}
	if e.InFlight != k.inFlight[i] {
		k.fail("client %d has %d in flight, told %d", i, k.inFlight[i], e.InFlight)
	}
}

// start takes a kernel off the queue and accounts for the idle time before it.
func (k *checker) start(i int) {
	at := slices.Index(k.queue, i)
	if at < 0 || k.started[i] || k.fifo && (at != 0 || slices.Contains(k.started, true)) {
		k.fail("the device takes up a kernel of client %d; queue %v, running %v", i, k.queue, k.started)
		return
	}
	k.queue = slices.Delete(k.queue, at, at+1)
	k.started[i] = true
	if slices.Contains(k.held, true) {
		k.worstIdle = max(k.worstIdle, k.now-k.idleSince)
	}
	clear(k.held)
}

func (k *checker) idle() {
	k.idleSince = k.now
	for i := range k.held {
		k.held[i] = k.active[i] && k.directive[i].Closed && k.inFlight[i] == 0
	}
}

// size is how many kernels the client's next launch has.
func (k *checker) size(i int) int {
	c := k.clients[i]
	return min(max(1, c.Graph), len(c.Kernels)-k.launched[i]%len(c.Kernels))
}

// mean is the device time of a kernel of the client.
func (k *checker) mean(i int) time.Duration {
	var sum time.Duration
	for _, each := range k.clients[i].Kernels {
		sum += each
	}
	return sum / time.Duration(len(k.clients[i].Kernels))
}
