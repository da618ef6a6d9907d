package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/crash"
)

// Errors of a run, found in Result.Err or returned by Run.
var (
	// ErrStart is returned when the job could not be started.
	ErrStart = errors.New("cannot start")
	// ErrTimeout is in Result.Err when the run took longer than it may.
	ErrTimeout = errors.New("timed out")
)

// ExitError is in Result.Err when the job's first process failed.
type ExitError struct {
	Code   int            // exit code; -1 if a signal ended it
	Signal syscall.Signal // 0 if it exited
}

func (e *ExitError) Error() string {
	if e.Signal != 0 {
		return fmt.Sprintf("ended by signal %d (%v)", int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// Status returns the exit status that a shell shows.
func (e *ExitError) Status() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// Settings of a Runner. The zero value works.
type Settings struct {
	// Scratch is the directory in which each run gets one of its own, removed
	// after it; empty means the system's.
	Scratch string
	// Interval is the time between two readings of the processes; 20 ms if 0.
	Interval time.Duration
	// GPUDevices are patterns of the device files of GPUs; nil means those of
	// Linux's drivers.
	GPUDevices []string
	// SMI is the program nvidia-smi; empty means the one on the path.
	SMI string
	// Guard is a program, with its first arguments, that calls [Guard] with its
	// standard input and its last two arguments: it ends a run whose Runner was
	// killed. Nil leaves it out.
	Guard []string
	// Relay is a program, with its arguments, that calls [Relay]: it passes on what the
	// user's job prints if the Job was killed. Nil leaves it out.
	Relay []string
	// Grace is the time after the end of a run in which its processes and pipes must end; 1 s
	// if 0.
	Grace time.Duration
}

// Runner executes runs one after the other. It adopts every orphan of its
// process: while it runs a job, nothing else in the process may start one.
type Runner struct {
	settings Settings
	mu       sync.Mutex
}

// New returns a Runner.
func New(s Settings) *Runner {
	s.Interval = cmp.Or(s.Interval, 20*time.Millisecond)
	if s.GPUDevices == nil {
		s.GPUDevices = GPUDevices
	}
	s.SMI = cmp.Or(s.SMI, "nvidia-smi")
	s.Grace = cmp.Or(s.Grace, time.Second)
	return &Runner{settings: s}
}

// Command describes the command to execute.
type Command struct {
	// Args is the command line. [ScratchWord] in any of them is replaced by the run's own
	// directory.
	Args []string
	Dir  string
	Env  []string // whole environment; TMPDIR is set to the run's own directory
	// Timeout ends the run; 0 means none.
	Timeout time.Duration
	// Reader finds the progress of the job in its output. Its fields give the number of units
	// and, if known, the pattern of progress lines.
	Reader progress.Reader
	// Marked, if not nil, is called with the marks so far when there are more.
	Marked func([]progress.Mark)
	// Counted, if not nil, is called with the reader after each reading of the output, before
	// Marked and also while there are no marks; it must not keep the reader.
	Counted func(*progress.Reader)
	// Input is the standard input of a Job's command.
	Input *os.File
	// Output, if not nil, gets what the job prints on both its streams.
	Output io.Writer
	// GPU records whether the job's processes use a GPU: see Result.GPU.
	GPU bool
}

// Run executes a command until its end, its timeout or the end of ctx, and leaves
// no process behind. The error wraps ErrStart or is that of ctx, which comes with a result if
// the command was started; the failure of a job that
// started is in Result.Err.
func (r *Runner) Run(ctx context.Context, c Command) (*Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	type outcome struct {
		*Result
		error
	}
	done := make(chan outcome)
	crash.Go(func() {
		// The kernel ties the parent-death signal to the thread that forks. The
		// thread ends with the run.
		runtime.LockOSThread()
		result, err := r.run(ctx, c)
		done <- outcome{result, err}
	})
	o := <-done
	return o.Result, o.error
}

func (r *Runner) run(ctx context.Context, c Command) (*Result, error) {
	if len(c.Args) == 0 {
		return nil, fmt.Errorf("%w: empty command", ErrStart)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp(r.settings.Scratch, "allox-est-")
	if err != nil {
		return nil, fmt.Errorf("%w: scratch directory: %w", ErrStart, err)
	}
	defer os.RemoveAll(scratch)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("%w: adopting orphans: %w", ErrStart, err)
	}
	guard, err := startGuard(r.settings.Guard, scratch)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	defer guard.stop()
	smi := &smi{}
	if c.GPU {
		smi = startSMI(r.settings.SMI, smiWait)
		defer smi.stop()
	}
	family := newFamily()
	out, err := newCapture(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	defer out.close()

	start := time.Now()
	cmd, err := startSample(c, scratch, out)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrStart, c.Args[0], err)
	}
	out.follow(start)
	smi.begin()

	res := &Result{Start: start, out: out}
	ended := make(chan *os.ProcessState, 1)
	crash.Go(func() {
		state, _ := cmd.Process.Wait()
		ended <- state
	})
	job := underWay{pid: cmd.Process.Pid, family: family, ended: ended}
	w := newWatch(res, c, smi, r.settings)
	state := r.await(ctx, c, w, job)
	res.Wall = time.Since(start)
	w.end()
	res.GPUPeakBytes = smi.peak()
	r.cleanUp(res, job)
	out.wait(r.settings.Grace)
	out.notify()
	var status syscall.WaitStatus
	usage := &syscall.Rusage{}
	if state != nil {
		status, usage = state.Sys().(syscall.WaitStatus), state.SysUsage().(*syscall.Rusage)
	}
	res.finish(status, usage)
	return res, ctx.Err()
}

// underWay is a job with a running first process.
type underWay struct {
	pid    int // of that process
	family *family
	ended  <-chan *os.ProcessState // the first process
}

// kill ends all of its processes.
func (j underWay) kill() {
	_ = syscall.Kill(-j.pid, syscall.SIGKILL)
	j.family.kill(j.pid)
}

// await waits until the first process ends. Meanwhile it reads the processes, and ends
// them if the run may not go on.
func (r *Runner) await(ctx context.Context, c Command, w *watch, job underWay) *os.ProcessState {
	var expired <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		expired = timer.C
	}
	stopped := ctx.Done()
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	for {
		select {
		case state := <-job.ended:
			return state
		case <-expired:
			w.res.Err = fmt.Errorf("%w after %v", ErrTimeout, c.Timeout)
			expired = nil
			job.kill()
		case <-stopped:
			stopped = nil
			job.kill()
		case <-tick.C:
			w.look(append(job.family.children(), job.pid))
		}
	}
}

// cleanUp ends every process that outlived the first one.
func (r *Runner) cleanUp(res *Result, job underWay) {
	deadline := time.Now().Add(r.settings.Grace)
	if res.Err == nil { // after a timeout they are the Runner's own doing
		res.LeftBehind = job.family.alive()
	}
	for quiet := 0; quiet < 2 && time.Now().Before(deadline); {
		job.kill()
		res.CPU += job.family.reap()
		if len(job.family.children()) == 0 {
			quiet++
			continue
		}
		quiet = 0
		time.Sleep(2 * time.Millisecond)
	}
}

// startSample starts the job's first process at the head of a process group, dead when the
// Runner dies.
func startSample(c Command, scratch string, out *capture) (*exec.Cmd, error) {
	args := fillScratch(c.Args, scratch)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = c.Dir
	cmd.Stdout, cmd.Stderr = out.stdout.w, out.stderr.w
	cmd.Env = append(slices.Clone(c.Env), "TMPDIR="+scratch)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd, plainCause(cmd.Start())
}

// plainCause returns the cause of a failed start without the names of system calls.
func plainCause(err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	if failed := (*exec.Error)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// fillScratch returns a command line with the run's own directory in it.
func fillScratch(args []string, scratch string) []string {
	filled := make([]string, len(args))
	for i, word := range args {
		filled[i] = strings.ReplaceAll(word, ScratchWord, scratch)
	}
	return filled
}

// ScratchWord is the text in a command line that is replaced by the run's own directory.
const ScratchWord = "{scratch}"
