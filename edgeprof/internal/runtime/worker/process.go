package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/shared/crash"
)

// Command says how to start a worker.
type Command struct {
	Path string
	Args []string // without the program's own name
	Env  []string // nil means this process's
	// CPUs are the processors it may run on, all its threads; nil is any.
	CPUs []int
}

// process is a running worker. The kernel kills it when this program dies, however that
// happens: none is left behind, stopped or not.
type process struct {
	name   string
	stdin  io.WriteCloser
	stdout io.Reader
	stderr *tail
	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended
}

// start starts the worker on a thread of its own: the processors are set for
// that thread, which the worker inherits, and the worker is killed when that
// thread ends.
func (c Command) start() (*process, error) {
	p := &process{name: filepath.Base(c.Path), stderr: &tail{}, done: make(chan struct{})}
	p.cmd = exec.Command(c.Path, c.Args...)
	p.cmd.Env, p.cmd.Stderr = c.Env, p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.stdout, p.cmd.Stdout = out, in
	started := make(chan error)
	crash.Go(func() {
		goruntime.LockOSThread() // never unlocked: the thread ends with the worker
		err := pin(c.CPUs)
		if err == nil {
			err = p.cmd.Start()
		}
		in.Close()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
		close(p.done)
	})
	if err := <-started; err != nil {
		out.Close()
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
			return nil, fmt.Errorf("%w: %w", runtime.ErrUnavailable, err)
		}
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return p, nil
}

func pin(cpus []int) error {
	if len(cpus) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("cannot pin to CPUs %v: %w", cpus, err)
	}
	return nil
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

// end closes the worker's input, which ends it, and kills one that stays.
func (p *process) end() {
	p.stdin.Close()
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		p.kill()
		<-p.done
	}
	if f, ok := p.stdout.(*os.File); ok {
		f.Close()
	}
}

func (p *process) stderrText() string {
	if text := p.stderr.String(); text != "" {
		return ": " + text
	}
	return ""
}

// tail keeps the end of what a worker writes to its stderr.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-2000):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
