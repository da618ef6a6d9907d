package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/foretime/foretime/shared/crash"
)

// ErrDied is returned if a model's process ended early or with an error.
var ErrDied = errors.New("the process ended")

// ErrLoad is returned if a model was not loaded in time.
var ErrLoad = errors.New("its model did not load in time")

// Program is the command of a model's process.
type Program struct {
	Path string
	Args []string
	Env  []string
}

// grace is the time between SIGTERM and SIGKILL.
const grace = 2 * time.Second

// Command returns the program's command in a process group of its own, which is ended when
// ctx is done: by SIGTERM, then by SIGKILL. The process ends with the thread that starts it.
func (p Program) Command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Env = p.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	return cmd
}

// KillGroup ends a process and its group at once.
func KillGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// process is the process of a model. It prints a line when its model is loaded, then waits
// for a line on its standard input.
type process struct {
	name  string // of the model, for errors
	log   string // path of what it writes
	cmd   *exec.Cmd
	stdin io.WriteCloser

	loaded chan struct{} // closed at the line
	done   chan struct{} // closed when it has ended
	err    error         // why; only after done
	output *output
}

// loadedLine is a process's line before the barrier, runLine the answer.
const (
	loadedLine = "model loaded"
	runLine    = "run\n"
)

// startProcess begins a process.
func startProcess(ctx context.Context, name, log string, p Program) (*process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	q := &process{name: name, log: log, output: &output{file: file}, loaded: make(chan struct{}), done: make(chan struct{})}
	cmd := p.Command(ctx)
	cmd.Stderr = q.output
	cmd.Stdout = &lines{out: q.output, seen: q.loaded}
	q.cmd = cmd
	if q.stdin, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	crash.Go(q.wait)
	return q, nil
}

// wait collects the process and what is left of its group.
func (q *process) wait() {
	err := q.cmd.Wait()
	KillGroup(q.cmd.Process) // children of its own
	if err != nil {
		q.err = fmt.Errorf("%s: %w: %w%s", q.name, ErrDied, err, q.lastLines())
	}
	q.err = errors.Join(q.err, q.output.close())
	close(q.done)
}

// release lets the process past the barrier.
func (q *process) release() error {
	_, err := io.WriteString(q.stdin, runLine)
	if err != nil {
		return fmt.Errorf("%s: %w", q.name, err)
	}
	return nil
}

// tailLines is the number of a log's lines in an error.
const tailLines = 5

// lastLines returns the last lines that the process wrote, for an error.
func (q *process) lastLines() string {
	q.output.mu.Lock()
	text := strings.TrimSpace(string(q.output.last))
	q.output.mu.Unlock()
	if text == "" {
		return "; it wrote nothing to " + q.log
	}
	all := strings.Split(text, "\n")
	return fmt.Sprintf("; last lines of %s: %s", q.log, strings.Join(all[max(0, len(all)-tailLines):], "; "))
}

// output writes a log. If its disk is full, the process continues, and its last lines are
// kept.
type output struct {
	mu   sync.Mutex
	file *os.File
	last []byte
	err  error // of the file, the first
}

// keptBytes is the number of bytes kept of the last lines.
const keptBytes = 8 << 10

// Write takes in a piece.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(o.last, p...)
	o.last = o.last[max(0, len(o.last)-keptBytes):]
	if o.err == nil {
		_, o.err = o.file.Write(p)
	}
	return len(p), nil
}

// close returns what went wrong with the file.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return errors.Join(o.err, o.file.Close())
}

// lines copies what it is given and closes seen at the first line loadedLine.
type lines struct {
	out  io.Writer
	seen chan struct{}
	once sync.Once
	part []byte
}

// Write takes in a piece of output.
func (l *lines) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != '\n' {
			l.part = append(l.part, b)
			continue
		}
		if strings.TrimSpace(string(l.part)) == loadedLine {
			l.once.Do(func() { close(l.seen) })
		}
		l.part = l.part[:0]
	}
	return l.out.Write(p)
}
