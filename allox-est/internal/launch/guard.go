package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// guard is a process that accompanies a run. If the Runner is killed, it ends the run's
// processes.
type guard struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// startGuard starts the program of Settings.Guard; nil where there is none.
func startGuard(argv []string, scratch string) (*guard, error) {
	if len(argv) == 0 {
		return nil, nil
	}
	cmd := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], scratch)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	return &guard{cmd, pipe}, nil
}

// stop ends the guard at the end of the run.
func (g *guard) stop() {
	if g == nil {
		return
	}
	_, _ = g.pipe.Write([]byte{0}) // a guard that was killed needs no end
	g.pipe.Close()
	_ = g.cmd.Wait()
}

// guardTime bounds the time in which a guard tries to end processes.
const guardTime = 10 * time.Second

// Guard waits until the Runner that started this process writes to in, which is
// the end of a run. If in ends before, because the Runner was killed, Guard ends
// the processes of the run, by the scratch directory in their environment, and removes
// the directory.
func Guard(in io.Reader, scratch string) {
	if n, _ := in.Read(make([]byte, 1)); n > 0 {
		return
	}
	for until, quiet := time.Now().Add(guardTime), 0; quiet < 2 && time.Now().Before(until); {
		quiet++
		if killMarked("TMPDIR="+scratch) > 0 {
			quiet = 0
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = os.RemoveAll(scratch)
}

// killMarked ends the processes with a variable, NAME=VALUE, in the environment
// that they were started with, and returns how many there were.
func killMarked(variable string) (found int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+variable+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			found++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return found
}
