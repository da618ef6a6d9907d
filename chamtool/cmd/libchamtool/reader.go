package main

// #include "tool.h"
import "C"

import (
	"os"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/foretime/foretime/chamtool/internal/event"
)

const (
	// checkpointEvery bounds the part of its summary that a program loses if it is ended from
	// outside, and keepEvery that of what it learned.
	checkpointEvery = 10 * time.Second
	// firstCheckpoint is the time of the first checkpoint; the times of the next ones double.
	firstCheckpoint = 500 * time.Millisecond
	keepEvery       = time.Minute
	// flushEvery bounds the rows of the log that an aborted run loses.
	flushEvery = time.Second
	// drainEvery is the interval at which the rings are read; a ring more than half full is
	// read earlier.
	drainEvery = 500 * time.Millisecond
	// frequencyEvery is the interval at which the core frequencies are read.
	frequencyEvery = 10 * time.Second
)

// run drains until it is stopped. A filling ring wakes it
// early; it sleeps longer while nothing happens.
func (c *consumer) run() {
	defer close(c.done)
	defer guard("reading the rings")
	flushed := time.Now()
	checked := time.Now()
	kept := time.Now()
	var sampled time.Time
	idle := 0
	for {
		if time.Since(sampled) >= frequencyEvery {
			if sample, err := event.ReadFrequencies(os.DirFS("/")); err == nil {
				c.session.SetFrequency(sample)
			}
			sampled = time.Now()
		}
		if c.drain() == 0 {
			idle = min(idle+1, 4)
		} else {
			idle = 0
		}
		ending := C.chamtool_ending() != 0
		if ending {
			c.stopped = time.Now()
			c.drain() // of the events before the signal
		}
		// A launcher may leave little time between SIGTERM and SIGKILL: the summary comes first.
		if ending || time.Since(checked) >= min(checkpointEvery, max(firstCheckpoint, time.Since(c.began)/2)) {
			c.runLocked(func() { c.checkpoint(ending) })
			checked = time.Now()
		}
		if ending || time.Since(kept) >= keepEvery {
			c.runLocked(c.store)
			kept = time.Now()
		}
		if ending {
			C.chamtool_ended()
			return
		}
		due := time.Until(flushed.Add(flushEvery))
		if due <= 0 {
			c.runLocked(c.session.Flush)
			flushed, due = time.Now(), flushEvery
		}
		if c.sleep(min(drainEvery<<idle, due)) {
			return
		}
	}
}

// sleep waits for a filling ring, the time, or the end, which it reports.
func (c *consumer) sleep(d time.Duration) (end bool) {
	C.chamtool_sleep(C.uint64_t(max(d, 0)))
	select {
	case <-c.quit:
		return true
	default:
		return false
	}
}

// runLocked runs f on one operating-system thread, which makes its CPU time measurable.
func (c *consumer) runLocked(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f()
}

// drain takes all events.
func (c *consumer) drain() (events int) {
	c.runLocked(func() { events = c.session.Drain() })
	return events
}

// attach finds new rings. The session calls it when it is its caller's turn.
func (c *consumer) attach() []*event.Ring {
	newest := unsafe.Pointer(C.chamtool_rings())
	known := len(c.rings)
	for p := newest; p != c.last && p != nil; {
		r := event.AttachRing(p)
		c.rings = append(c.rings, r)
		p = r.Next()
	}
	slices.Reverse(c.rings[known:])
	c.last = newest
	return c.rings
}
