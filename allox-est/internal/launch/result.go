package launch

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/timing"
)

// Result holds the cost and the reports of a run.
type Result struct {
	Start time.Time
	Wall  time.Duration
	CPU   time.Duration // user and system, of the whole process tree
	// Parallel is the number of threads that wanted a processor at a time; 0 if unknown.
	Parallel float64
	// Wait is the time in which threads were ready without a processor, summed over the threads
	// that were seen.
	Wait      time.Duration
	PeakBytes int64 // most memory the tree was seen to hold at once
	// GPUPeakBytes is the most by which the memory in use on GPUs grew, other programs' growth
	// included; 0 if that is not known.
	GPUPeakBytes int64
	// Trace is CPU and Wait over the run, ending with their sums.
	Trace      []Point
	Err        error           // *ExitError or ErrTimeout; nil if the job succeeded
	LeftBehind int             // processes that outlived the first one and were killed
	Request    os.Signal       // that asked the job to end, and was passed on; nil without one
	Background bool            // the job went on in the background, with its output open
	GPU        Evidence        // of a GPU, where Command.GPU asked
	GPUWatched bool            // nvidia-smi listed the machine's GPUs
	Marks      []progress.Mark // units done
	Stopped    float64         // units after which the job ended by itself; 0 if it did all, or did not report it
	Unmarked   string          // why there are no marks

	out  *capture
	step int // readings taken for one kept, a power of two
	seen int
}

// Point is the state of a run at a time since its start.
type Point struct{ At, CPU, Wait time.Duration }

const mostPoints = 4096

// read takes a reading. When there are many, every other one is dropped and
// from then on not taken.
func (r *Result) read(at time.Duration, u timing.TreeUsage) {
	r.PeakBytes = max(r.PeakBytes, u.Peak)
	r.Wait = max(r.Wait, u.Wait)
	if u.Parallel > 0 {
		r.Parallel = u.Parallel
	}
	r.step = max(r.step, 1)
	if r.seen++; r.seen%r.step != 0 {
		return
	}
	r.Trace = append(r.Trace, Point{at, u.CPU, u.Wait})
	if len(r.Trace) == mostPoints {
		for i := range mostPoints / 2 {
			r.Trace[i] = r.Trace[2*i+1]
		}
		r.Trace = r.Trace[:mostPoints/2]
		r.step *= 2
	}
}

// finish adds what is known once the first process has ended.
func (r *Result) finish(status syscall.WaitStatus, usage *syscall.Rusage) {
	r.CPU += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	r.PeakBytes = max(r.PeakBytes, usage.Maxrss<<10)
	if r.Err == nil && status != 0 {
		failure := &ExitError{Code: status.ExitStatus()}
		if status.Signaled() {
			failure.Signal = status.Signal()
		}
		r.Err = failure
	}
	r.out.mark(r)
	r.Trace = append(r.Trace, Point{r.Wall, r.CPU, r.Wait})
}

// ErrOnStderr warns that the time-writer report came on the wrong stream.
var ErrOnStderr = errors.New("the time-writer report is on stderr")

// Output returns the time-writer report and when it was complete, since the
// start of the run. A report on stderr counts only where stdout has none. The
// error is a *timing.ParseError.
func (r *Result) Output() (*timing.Output, time.Duration, error) {
	out, err := r.out.stdout.parser.Output()
	if !errors.Is(err, timing.ErrNoTag) {
		return out, r.out.stdout.at, err
	}
	if out, err2 := r.out.stderr.parser.Output(); err2 == nil {
		out.Warnings = append(out.Warnings, ErrOnStderr)
		return out, r.out.stderr.at, nil
	}
	return nil, 0, err
}

// Stderr returns the last KiBs of stderr, made valid UTF-8.
func (r *Result) Stderr() string { return strings.ToValidUTF8(string(r.out.stderr.tail.b), "\uFFFD") }

// Reason returns Err, of a run that failed, with the last line of stderr, in one line.
func (r *Result) Reason() string {
	lines := strings.Split(strings.TrimSpace(r.Stderr()), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return r.Err.Error() + ": " + last
	}
	return r.Err.Error()
}
