package scripttest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/crash"
)

// A program is interrupted after it used a given processor time, or after a given
// time if it waits then. On a loaded machine it may not have begun by that time: it is
// interrupted while it is still ready to run only after a minute. It then has two seconds of
// processor time to end, and a minute of wall time.
const (
	busyTime    = 500 * time.Millisecond
	waitTime    = 2 * time.Second
	endTime     = 2 * time.Second
	endWallTime = time.Minute
	reapTime    = time.Minute
	raceFactor  = 5 // factor with the race detector
)

// interrupt is the script command: interrupt INT|TERM PROGRAM [ARG...].
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[0] != "INT" && args[0] != "TERM" {
		ts.Fatalf("usage: interrupt INT|TERM program [arg...]")
	}
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	var printed bytes.Buffer
	c := exec.Command(path, args[2:]...)
	c.Dir, c.Stdout, c.Stderr = ts.Getenv("WORK"), &printed, &printed
	c.Env = environment(ts)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ts.Check(c.Start())
	ended := make(chan error, 1)
	crash.Go(func() { ended <- c.Wait() })
	defer syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // ends processes that are left
	signal := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[0]]
	if err := waitBusy(c.Process.Pid, ended); err != nil {
		ts.Fatalf("%s: %v\n%s", strings.Join(args[1:], " "), err, printed.String())
	}
	ts.Check(syscall.Kill(c.Process.Pid, signal))
	if err := waitEnd(c.Process.Pid, processorTime(c.Process.Pid), ended); err != nil {
		ts.Fatalf("%s: %v after SIG%s\n%s", strings.Join(args[1:], " "), err, args[0], printed.String())
	}
	// A worker that was killed is in its group until it is reaped.
	for begin := time.Now(); !errors.Is(syscall.Kill(-c.Process.Pid, 0), syscall.ESRCH); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > reapTime {
			ts.Fatalf("%s: left processes behind", strings.Join(args[1:], " "))
		}
	}
}

// waitEnd waits for the end of a process; before is the processor time that it had
// used at the signal. The limit is in processor time, because a loaded machine is
// slow to end a process.
func waitEnd(pid int, before time.Duration, ended <-chan error) error {
	limit := endTime
	if raceDetector() {
		limit *= raceFactor
	}
	for begin := time.Now(); ; {
		select {
		case err := <-ended:
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() != 1 {
				return fmt.Errorf("ended with %w", err)
			}
			return nil
		case <-time.After(20 * time.Millisecond):
		}
		if more := processorTime(pid) - before; more > limit || time.Since(begin) > endWallTime {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			<-ended // its output is complete
			return fmt.Errorf("still running after %.1f s, %v of it on a processor", time.Since(begin).Seconds(), more)
		}
	}
}

// environment returns the environment of the script.
func environment(ts *testscript.TestScript) []string {
	env := []string{"PATH=" + os.Getenv("PATH")}
	for _, name := range []string{"HOME", "WORK", "FORETIME_DATA", "GORACE", "TMPDIR"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

// waitBusy waits until a process has worked, or has come to wait. It returns an error if the
// process ends first.
func waitBusy(pid int, ended <-chan error) error {
	for begin := time.Now(); time.Since(begin) < waitTime || !waits(pid) && time.Since(begin) < endWallTime; {
		select {
		case err := <-ended:
			return fmt.Errorf("ended by itself: %w", errors.Join(errors.New("too short an input"), err))
		case <-time.After(20 * time.Millisecond):
		}
		if processorTime(pid) >= busyTime {
			return nil
		}
	}
	return nil
}

// waits reports whether no thread of a process is ready to run.
func waits(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path)
		if i := bytes.LastIndexByte(text, ')'); i >= 0 && len(text) > i+2 && text[i+2] != 'S' {
			return false
		}
	}
	return true
}

// processorTime returns the processor time of a process; proc(5) counts in hundredths of a
// second.
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
