package runtime

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/floats"
)

// Timing holds the times of inferences made one after the other.
type Timing struct {
	Seconds []float64 `json:"seconds"` // of each, by the wall clock
	// CPU is the processor time of the process meanwhile, and Waited how long its
	// threads were ready to run and had no processor: both in seconds, all threads
	// together (Linux, Documentation/scheduler/sched-stats.rst); 0 where unknown.
	CPU    float64 `json:"cpu_seconds,omitempty"`
	Waited float64 `json:"waited_seconds,omitempty"`
}

// CPUShare returns the fraction of the time in which the threads of an inference wanted a processor
// and had one: 1 if no other work interfered. The waiting of the runtime's helpers for sleeping
// threads does not belong to the inference.
func (t *Timing) CPUShare(threads int) float64 {
	waited := max(0, min(t.Waited, float64(threads)*floats.Sum(t.Seconds)-t.CPU))
	if !(t.CPU > 0) {
		return 1
	}
	return t.CPU / (t.CPU + waited)
}

// UncontendedSeconds returns the mean time of an inference, in seconds, without its waits for
// processors.
func (t *Timing) UncontendedSeconds(threads int) float64 {
	return floats.Sum(t.Seconds) / float64(len(t.Seconds)) * t.CPUShare(threads)
}

// Stopwatch times inferences made one after the other. Where there are several, one
// before them brings the model back into the caches, and is not counted.
type Stopwatch struct {
	// Runs is the number of inferences to make, that one included.
	Runs  int
	timed Timing
	warm  bool
}

// NewStopwatch returns a stopwatch for some counted inferences, at least one.
func NewStopwatch(counted int) *Stopwatch {
	w := &Stopwatch{Runs: counted, warm: counted == 1}
	if !w.warm {
		w.Runs++
	}
	w.timed.CPU, w.timed.Waited = processors()
	return w
}

// Add adds the seconds that an inference took.
func (w *Stopwatch) Add(seconds float64) {
	if !w.warm {
		w.warm = true
		w.timed.CPU, w.timed.Waited = processors()
		return
	}
	w.timed.Seconds = append(w.timed.Seconds, seconds)
}

// Timing returns the times of the inferences.
func (w *Stopwatch) Timing() Timing {
	cpu, waited := processors()
	return Timing{w.timed.Seconds, cpu - w.timed.CPU, max(0, waited-w.timed.Waited)}
}

// processors returns the seconds that this process has had processors, and that its
// threads have waited for one.
func processors() (had, waited float64) {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0, 0
	}
	threads, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
			ns, _ := strconv.ParseFloat(fields[1], 64) // 0 where it is no number
			waited += ns / 1e9
		}
	}
	return float64(t.Nano()) / 1e9, waited
}
