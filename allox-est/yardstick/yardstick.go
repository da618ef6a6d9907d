package yardstick

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/shared/crash"
)

// Work names the piece of work. Readings of different work do not compare.
const Work = "convolution-1"

// Reading is one look at a processor's speed.
type Reading struct {
	At      time.Duration // since the start of the run
	Seconds float64       // processor time of the work
}

// Watch takes readings beside one run.
type Watch struct {
	asked    chan place
	done     chan struct{}
	readings []Reading
}

// place is where and when a reading is wanted.
type place struct {
	at        time.Duration
	processor int
}

// Start begins a watch, and returns when it is ready for the first reading.
func Start() *Watch {
	w := &Watch{asked: make(chan place), done: make(chan struct{})}
	ready := make(chan struct{})
	crash.Go(func() { w.run(ready) })
	<-ready
	return w
}

// See takes a reading on a processor now, unless one is under way. It returns
// at once. A negative processor is not known, and is not read.
func (w *Watch) See(at time.Duration, processor int) {
	if processor < 0 {
		return
	}
	select {
	case w.asked <- place{at, processor}:
	default:
	}
}

// Stop ends the watch and returns its readings in their order.
func (w *Watch) Stop() []Reading {
	close(w.asked)
	<-w.done
	return w.readings
}

// run takes the readings on a thread of its own, which ends with it: no other
// goroutine is to be tied to the job's processor.
func (w *Watch) run(ready chan<- struct{}) {
	defer close(w.done)
	runtime.LockOSThread()
	var m maps
	m.fill()
	m.convolve(1)
	close(ready)
	for p := range w.asked {
		var only unix.CPUSet
		only.Set(p.processor)
		if unix.SchedSetaffinity(0, &only) != nil {
			continue
		}
		m.convolve(5) // the first time it is the caches that are measured
		start := threadTime()
		m.convolve(1)
		w.readings = append(w.readings, Reading{p.at, (threadTime() - start).Seconds()})
	}
}

const (
	side     = 24 // of a map
	channels = 16
	reach    = 2 // of the kernel, to each side
	span     = 2*reach + 1
)

// maps are the input and the output of a convolution that treats each channel
// by itself, and its kernel.
type maps struct {
	in, out [side * side * channels]float32
	kernel  [span * span * channels]float32
}

func (m *maps) fill() {
	for i := range m.in {
		m.in[i] = float32(i & 15)
	}
	for i := range m.kernel {
		m.kernel[i] = 1.0 / (span * span)
	}
}

// convolve does the work on one row of the output in each of the given number.
func (m *maps) convolve(each int) {
	for y := reach; y < side-reach; y += each {
		for x := reach; x < side-reach; x++ {
			to := m.out[(y*side+x)*channels:][:channels]
			clear(to)
			for dy := range span {
				for dx := range span {
					from := m.in[((y+dy-reach)*side+x+dx-reach)*channels:][:channels]
					weights := m.kernel[(dy*span+dx)*channels:][:channels]
					for c := range to {
						to[c] += from[c] * weights[c]
					}
				}
			}
		}
	}
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
