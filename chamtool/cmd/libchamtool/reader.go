package main

// #include "tool.h"
import "C"

import (
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/summary"
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
	idle := 0
	for {
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

// watchFrequency reads the core frequencies now and then. A machine with many cores takes its
// time for them, and the rings must not wait.
func (c *consumer) watchFrequency() {
	defer guard("reading core frequencies")
	for {
		sample, err := event.ReadFrequencies(os.DirFS("/"))
		if err != nil {
			return // a machine without frequencies will not get them
		}
		c.session.SetFrequency(sample)
		select {
		case <-c.quit:
			return
		case <-time.After(frequencyEvery):
		}
	}
}

// machineLoad is the CPU time of all programs and of this one at a time.
type machineLoad struct {
	at  time.Time
	all event.ProcessorUse
	own time.Duration
	err error
}

func readMachineLoad() machineLoad {
	l := machineLoad{at: time.Now()}
	var usage syscall.Rusage
	if l.err = syscall.Getrusage(syscall.RUSAGE_SELF, &usage); l.err == nil {
		l.own = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		l.all, l.err = event.ReadProcessorUse(os.DirFS("/"))
	}
	return l
}

// leastElapsed is the time from which the ticks of 10 ms that the system counts in are fine enough.
const leastElapsed = 200 * time.Millisecond

// others returns the processors of the machine and the mean number of them that other programs
// kept busy until later; 0 and nil if unknown, as after a short time.
func (l machineLoad) others(later machineLoad) (online int, busy *float64) {
	elapsed := later.at.Sub(l.at)
	if l.err != nil || later.err != nil || elapsed < leastElapsed {
		return 0, nil
	}
	used := later.all.Busy - l.all.Busy - (later.own - l.own)
	return later.all.Processors, summary.NewFigure(max(0, used.Seconds()/elapsed.Seconds()))
}
