package timing

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// TreeUsage is the resource use of a process tree.
type TreeUsage struct {
	// CPU is the time that threads ran on a processor, Wait the time that they were
	// ready without one.
	CPU, Wait time.Duration
	// Parallel is the mean number of threads that needed a processor, over the time
	// that any did; 0 before two readings.
	Parallel float64
	// Peak is the most memory in RAM in bytes at a reading; shared pages count once
	// per process.
	Peak int64
}

// Meter adds up the resource use of a process tree over several readings. The use
// of a thread that ended is still counted as of its last reading, so the sums never
// fall. A thread that begins and ends between two readings is not seen.
type Meter struct {
	Processes Processes

	threads map[int]threadTime
	ended   threadTime
	peak    int64

	// wanted is the sum over readings of the longest time that a thread ran or was
	// ready; wantedBy is that times the number of threads that did so for at least
	// half as long.
	wanted, wantedBy time.Duration
}

// threadTime is a thread's time on a processor and in wait for one.
type threadTime struct{ run, wait time.Duration }

// Read reads the trees of the given processes and returns their use over the Meter's
// life, CPU and Wait to the kernel's nanosecond.
func (m *Meter) Read(pids ...int) TreeUsage {
	if m.threads == nil {
		m.threads = map[int]threadTime{}
	}
	var resident int64
	var ready []time.Duration // per thread: time that it ran or was ready since the last reading
	for _, pid := range m.Processes.Tree(pids...) {
		memory, err := m.Processes.resident(pid)
		if err != nil { // it has ended
			continue
		}
		resident += memory
		for _, name := range m.Processes.threads(pid) {
			t := m.readThread(pid, name)
			ready = append(ready, t.run+t.wait)
		}
	}
	m.peak = max(m.peak, resident)
	u := TreeUsage{CPU: m.ended.run, Wait: m.ended.wait, Parallel: m.parallel(ready), Peak: m.peak}
	for _, t := range m.threads {
		u.CPU += t.run
		u.Wait += t.wait
	}
	return u
}

// readThread reads /proc/PID/task/TID/schedstat: nanoseconds on a processor,
// nanoseconds ready without one, and turns (sched-stats.rst of the kernel). It
// returns the increase of both times since the last reading.
func (m *Meter) readThread(pid int, name string) threadTime {
	b, err := os.ReadFile(m.Processes.path(pid, "task", name, "schedstat"))
	if err != nil {
		return threadTime{}
	}
	f := bytes.Fields(b)
	tid, err := strconv.Atoi(name)
	if err != nil || len(f) < 2 {
		return threadTime{}
	}
	run, err1 := strconv.ParseInt(string(f[0]), 10, 64)
	wait, err2 := strconv.ParseInt(string(f[1]), 10, 64)
	if err1 != nil || err2 != nil {
		return threadTime{}
	}
	now := threadTime{time.Duration(run), time.Duration(wait)}
	last := m.threads[tid]
	if now.run < last.run { // the number was reused for a new thread
		m.ended.run += last.run
		m.ended.wait += last.wait
		last = threadTime{}
	}
	m.threads[tid] = now
	return threadTime{now.run - last.run, max(0, now.wait-last.wait)}
}

// parallel adds the times that threads ran or were ready in an interval. A thread
// that did so for at least half as long as the longest needs a processor of its
// own; a runtime's helper threads, which wake for a moment, do not.
func (m *Meter) parallel(ready []time.Duration) float64 {
	var longest time.Duration
	for _, t := range ready {
		longest = max(longest, t)
	}
	for _, t := range ready {
		if longest > 0 && 2*t >= longest {
			m.wantedBy += longest
		}
	}
	m.wanted += longest
	if m.wanted == 0 {
		return 0
	}
	return float64(m.wantedBy) / float64(m.wanted)
}
