package hook_test

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/cc"
	"github.com/foretime/foretime/deft/internal/session"
)

// compileTest builds one of testdata's programs.
func compileTest(t testing.TB, name string, args ...string) string {
	t.Helper()
	path, err := cc.Build(t.Context(), needCompiler(t), cc.Product{
		Name: name, Sources: []fs.FS{os.DirFS("testdata")}, Args: append([]string{"-O2", "-std=gnu11", "-pthread"}, args...),
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// probe is a running testdata/probe.c.
type probe struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string
	closed bool
}

func (w *world) probe(env ...string) *probe {
	w.t.Helper()
	return w.probeOf(compileTest(w.t, "probe", "probe.c"), env...)
}

func (w *world) probeOf(program string, env ...string) *probe {
	w.t.Helper()
	cmd := w.command(program)
	cmd.Env = append(cmd.Env, env...)
	return w.started(cmd)
}

// started starts a command that ends up as a probe.
func (w *world) started(cmd *exec.Cmd) *probe {
	w.t.Helper()
	cmd.Stderr = os.Stderr
	p := &probe{t: w.t, cmd: cmd, lines: make(chan string, 100)}
	var out io.ReadCloser
	var err error
	if p.in, err = cmd.StdinPipe(); err == nil {
		if out, err = cmd.StdoutPipe(); err == nil {
			err = cmd.Start()
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	w.t.Cleanup(p.kill)
	return p
}

// send gives a command without waiting for its answer.
func (p *probe) send(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
}

// answer waits for the answer to a command.
func (p *probe) answer() string {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatal("the probe ended")
		}
		return line
	case <-time.After(patience):
		p.t.Fatal("no answer from the probe")
		panic("unreachable")
	}
}

// patience bounds waits that end when all is well.
const patience = 2 * time.Minute

// do gives a command and wants it to succeed.
func (p *probe) do(format string, args ...any) {
	p.t.Helper()
	p.send(format, args...)
	if got := p.answer(); !strings.HasPrefix(got, "ok") {
		p.t.Fatalf("%s: %s", fmt.Sprintf(format, args...), got)
	}
}

func (p *probe) kill() {
	if p.closed {
		return
	}
	p.closed = true
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// exit ends the probe in good order.
func (p *probe) exit() {
	p.t.Helper()
	p.closed = true
	p.send("exit")
	for range p.lines {
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatal(err)
	}
}

// eventually waits until what holds, beating meanwhile.
func (w *world) eventually(why string, what func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !what(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			w.t.Fatalf("not so: %s; clients: %+v", why, w.session.Clients())
		}
		if w.beats {
			w.session.Beat()
		}
	}
}

// client is the one client with a process id.
func (w *world) client(p *probe) session.Client {
	w.t.Helper()
	for _, c := range w.session.Clients() {
		if c.PID() == p.cmd.Process.Pid {
			return c
		}
	}
	w.t.Fatalf("process %d is no client", p.cmd.Process.Pid)
	panic("unreachable")
}
