package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/shared/crash"
)

// inBackground reports whether a script started this program in its background, which Ctrl-C
// does not concern: then SIGINT is ignored at the start.
var inBackground = signal.Ignored(syscall.SIGINT)

// ForwardedSignals returns the signals that a Job passes on. Under nohup a hang-up is none.
func ForwardedSignals() []os.Signal {
	signals := []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGALRM, syscall.SIGCONT, syscall.SIGWINCH, syscall.SIGXCPU,
	}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// Job runs the user's own job, whole. The job has this process's standard input, working
// directory and terminal, and a process group of its own. Nothing of it is killed, except by
// a second signal that asks it to end; it goes on if this process is killed, and a relay
// passes its output on then.
type Job struct {
	settings Settings
	signals  <-chan os.Signal
}

// NewJob returns a Job that passes signals on. Settings.Guard has no effect.
func NewJob(s Settings, signals <-chan os.Signal) *Job {
	return &Job{settings: New(s).settings, signals: signals}
}

// ownJobInterval is the least time between two readings of the processes of a job, which may
// run for days.
const ownJobInterval = 100 * time.Millisecond

// Run runs a command to its end. The context does not end it, nor does the command's
// Timeout.
func (j *Job) Run(_ context.Context, c Command) (*Result, error) {
	args, scratch, err := j.arguments(c)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	out, err := newRelayedCapture(c, j.settings.Relay)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	defer out.close()
	wait := time.Duration(0) // a job of no known device is not held up
	if c.GPU {
		wait = smiWait
	}
	smi := startSMI(j.settings.SMI, wait)
	defer smi.stop()
	start := time.Now()
	p, err := startOwn(args, c, out)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrStart, c.Args[0], err)
	}
	defer p.tty.close()
	out.follow(start)
	smi.begin()
	res := &Result{Start: start, out: out}
	w := newWatch(res, c, smi, j.settings)
	w.interval = max(w.interval, ownJobInterval)
	status, usage := j.watch(w, p)
	res.Wall = time.Since(start)
	p.tty.pass(p.pid, syscall.Getpgrp())
	w.end()
	res.GPUPeakBytes = smi.peak()
	res.Background = !out.wait(j.settings.Grace)
	out.notify()
	res.finish(status, usage)
	return res, nil
}

// EndBy ends this process by the signal that ended its job. A shell's loop over jobs ends
// only if its command was ended by Ctrl-C, and a script's only if the script's own group gets
// the signal too, of which the job in the terminal's foreground has kept it.
func EndBy(signal syscall.Signal) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // the job may have left one
	var usual [4]uint64                                  // struct sigaction, all zero: SIG_DFL
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(&usual)), 0, 8, 0, 0)
	if tty := openTerminal(); (signal == syscall.SIGINT || signal == syscall.SIGQUIT) && tty.shows(syscall.Getpgrp()) {
		_ = syscall.Kill(0, signal)
	}
	runtime.LockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), signal)
}

// arguments returns the command line. A scratch directory is made if the command names
// one; "" if it does not.
func (j *Job) arguments(c Command) (args []string, scratch string, err error) {
	if len(c.Args) == 0 {
		return nil, "", fmt.Errorf("%w: empty command", ErrStart)
	}
	if slices.ContainsFunc(c.Args, func(word string) bool { return strings.Contains(word, ScratchWord) }) {
		if scratch, err = os.MkdirTemp(j.settings.Scratch, "allox-est-"); err != nil {
			return nil, "", fmt.Errorf("%w: scratch directory: %w", ErrStart, err)
		}
	}
	return fillScratch(c.Args, scratch), scratch, nil
}

// own is the first process of the user's job, at the head of its process group.
type own struct {
	pid int
	tty *terminal
}

// startOwn starts the job: in the foreground of the terminal, if this process is there.
func startOwn(args []string, c Command, out *capture) (own, error) {
	cmd := exec.Command(args[0], args[1:]...)
	if cmd.Err != nil {
		return own{}, plainCause(cmd.Err)
	}
	p := own{tty: openTerminal()}
	sys := &syscall.SysProcAttr{Setpgid: true}
	if !inBackground && p.tty.shows(syscall.Getpgrp()) {
		sys.Foreground, sys.Ctty = true, p.tty.fd
	}
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: []uintptr{c.Input.Fd(), out.stdout.w.Fd(), out.stderr.w.Fd()}, Sys: sys}
	var err error
	if p.pid, err = syscall.ForkExec(cmd.Path, args, attr); errors.Is(err, syscall.ENOEXEC) { // as a shell does
		p.pid, err = syscall.ForkExec("/bin/sh", append([]string{"sh", cmd.Path}, args[1:]...), attr)
	}
	if err != nil {
		if sys.Foreground {
			p.tty.give(syscall.Getpgrp())
		}
		p.tty.close()
	}
	return p, err
}

// watch waits for the end of the first process. Meanwhile it reads the processes and
// passes signals on.
func (j *Job) watch(w *watch, p own) (status syscall.WaitStatus, usage *syscall.Rusage) {
	ended := make(chan bool)
	usage = new(syscall.Rusage)
	crash.Go(func() {
		defer close(ended)
		for {
			_, err := syscall.Wait4(p.pid, &status, syscall.WUNTRACED, usage)
			switch {
			case errors.Is(err, syscall.EINTR):
			case err == nil && status.Stopped():
				p.stop(status.StopSignal())
			default:
				return
			}
		}
	})
	signal.Ignore(syscall.SIGPIPE) // the job does not depend on who reads our output
	request := make(chan os.Signal, 1)
	crash.Go(func() { j.forward(p, ended, request) })
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			select {
			case w.res.Request = <-request:
			default:
			}
			return status, usage
		case <-tick.C:
			w.look([]int{p.pid})
		}
	}
}

// stop stops this process's group with the job that a key or a read from the terminal has
// stopped, for the shell's job control.
func (p own) stop(by syscall.Signal) {
	if p.tty != nil && (by == syscall.SIGTSTP || by == syscall.SIGTTIN || by == syscall.SIGTTOU) {
		p.tty.pass(p.pid, syscall.Getpgrp())
		_ = syscall.Kill(0, syscall.SIGSTOP)
	}
}

// sameRequest is the time in which a signal that comes twice counts once: timeout(1) signals
// the process and its group.
const sameRequest = 250 * time.Millisecond

// forward passes signals on to the job's process group until the job has ended. The second
// one that asks it to end kills the group, unless both are SIGTERM: Slurm sends one before the
// time limit and another at it, and kills by itself. The first one goes to request.
func (j *Job) forward(p own, ended <-chan bool, request chan<- os.Signal) {
	var asked os.Signal
	var at time.Time
	for {
		select {
		case <-ended:
			return
		case s := <-j.signals:
			switch s {
			case syscall.SIGCONT:
				p.tty.pass(syscall.Getpgrp(), p.pid)
			case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM:
				if inBackground && s != syscall.SIGTERM && p.tty.shows(syscall.Getpgrp()) {
					continue
				}
				if s == asked && time.Since(at) < sameRequest {
					continue
				}
				switch {
				case asked == nil:
					asked, at = s, time.Now()
					request <- s
				case s != syscall.SIGTERM || asked != syscall.SIGTERM:
					s = syscall.SIGKILL
				}
			}
			_ = syscall.Kill(-p.pid, s.(syscall.Signal)) // it may have ended
		}
	}
}
