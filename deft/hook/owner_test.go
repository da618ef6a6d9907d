package hook_test

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// owner is a process that owns the session in this one's stead, to be killed.
type owner struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// runOwner is what that process does: it beats, and directs as it is told.
func runOwner() error {
	s, err := session.Open(os.Getenv("DEFT_TEST_OWNER"))
	if err != nil {
		return err
	}
	if err := s.Own(); err != nil {
		return err
	}
	go func() {
		for ; ; time.Sleep(10 * time.Millisecond) {
			s.Beat()
		}
	}()
	fmt.Println("ok")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("ok") {
		if in.Text() == "reap" {
			for _, c := range s.Reap() {
				fmt.Println(c.PID(), c.Launches)
			}
			continue
		}
		if in.Text() == "storm" {
			fmt.Println("ok")
			for d := (session.Directive{}); ; d.Closed, d.SyncEvery, d.InFlightTime = !d.Closed, (d.SyncEvery+1)%5, (d.InFlightTime+unknownKernel)%(7*unknownKernel) {
				s.Direct(0, d)
			}
		}
		var slot int
		var d session.Directive
		if _, err := fmt.Sscan(in.Text(), &slot, &d.Closed, &d.SyncEvery, &d.InFlightTime, &d.Timed); err != nil {
			return err
		}
		s.Direct(slot, d)
	}
	return s.Close()
}

// owner gives the session to a new process.
func (w *world) owner() *owner {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	w.session.Disown()
	w.beats = false
	o := &owner{t: w.t, cmd: exec.Command(self)}
	o.cmd.Env = append(os.Environ(), "DEFT_TEST_OWNER="+w.session.Path())
	o.cmd.Stderr = os.Stderr
	var out io.ReadCloser
	if o.in, err = o.cmd.StdinPipe(); err == nil {
		if out, err = o.cmd.StdoutPipe(); err == nil {
			err = o.cmd.Start()
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	o.out = bufio.NewScanner(out)
	w.t.Cleanup(o.kill)
	o.ok()
	return o
}

func (o *owner) ok() {
	o.t.Helper()
	if !o.out.Scan() || o.out.Text() != "ok" {
		o.t.Fatalf("the owner says %q", o.out.Text())
	}
}

func (o *owner) direct(slot int, d session.Directive) {
	o.t.Helper()
	fmt.Fprintln(o.in, slot, d.Closed, d.SyncEvery, int64(d.InFlightTime), d.Timed)
	o.ok()
}

// storm makes the owner change its mind for ever.
func (o *owner) storm() {
	o.t.Helper()
	fmt.Fprintln(o.in, "storm")
	o.ok()
}

// reap frees the slots of those who are gone and returns the launches of each,
// by process id.
func (o *owner) reap() map[int]uint64 {
	o.t.Helper()
	fmt.Fprintln(o.in, "reap")
	gone := map[int]uint64{}
	for o.out.Scan() && o.out.Text() != "ok" {
		var pid int
		var launches uint64
		if _, err := fmt.Sscan(o.out.Text(), &pid, &launches); err != nil {
			o.t.Fatalf("the owner says %q", o.out.Text())
		}
		gone[pid] = launches
	}
	return gone
}

// zombify ends the owner without a word, and leaves it a zombie.
func (o *owner) zombify() { _ = o.cmd.Process.Kill() }

// kill ends the owner without a word.
func (o *owner) kill() {
	o.zombify()
	_ = o.cmd.Wait()
}

func neededLibraries(path string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ImportedLibraries()
}

// Where arrivals are held, a program that comes late launches nothing before
// the owner's first word, and all that it asks for after it.
func TestLateJoinerWaitsForItsDirective(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	w.session.Hold()
	p := w.probe()
	p.send("launch 900")
	w.eventually("at its gate", func() bool {
		all := w.session.Clients()
		return len(all) == 1 && all[0].Drained
	})
	if c := w.client(p); c.Launches != 0 || c.Stops != 1 {
		t.Errorf("before the first word: %+v", c)
	}
	w.session.Direct(w.client(p).Slot, session.Directive{SyncEvery: 16})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	if c := w.client(p); c.Launches != 900 || c.Syncs != 56 {
		t.Errorf("after it: %+v", c)
	}
	p.exit()
}
