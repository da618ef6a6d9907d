package hook_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// A forked child is a client of its own; its parent's counts stay.
func TestFork(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	w.device.More = append(w.device.More, "SIMCUDA_AFTER_FORK=allow")
	p := w.probe()
	p.do("fork 4") // before the driver was used
	p.do("launch 3")
	p.do("threads 2")
	p.do("fork 5")
	c := w.client(p)
	if c.Launches != 11 {
		t.Errorf("the parent: %+v", c)
	}
	gone := w.reap()
	if len(gone) != 2 || gone[0].Launches != 4 || gone[1].Launches != 5 || gone[1].State != session.Left {
		t.Errorf("the children: %+v", gone)
	}
	p.exit()
}

// A child forked while its parent stands at the gate is not in its way.
func TestForkFromThreads(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	w.device.More = append(w.device.More, "SIMCUDA_AFTER_FORK=allow")
	for _, way := range []string{"fork", "fork-late", "threads"} {
		out := w.run(w.command(w.clients.Client, way, "10"))
		var want, got uint64
		if _, err := fmt.Sscanf(out, "launches %d", &want); err != nil {
			t.Fatal(out)
		}
		for _, c := range w.reap() {
			got += c.Launches
		}
		if got != want || want == 0 {
			t.Errorf("%s: the hook saw %d launches of %d", way, got, want)
		}
	}
}

// The hook starts no thread.
func TestNoThreads(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("launch 3")
	tasks, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(p.cmd.Process.Pid), "task"))
	if err != nil || len(tasks) != 1 {
		t.Errorf("%d threads, %v", len(tasks), err)
	}
	p.exit()
}

// The library needs libc and nothing else.
func TestNeedsLibcAlone(t *testing.T) {
	w := newWorld(t, session.Options{})
	needed, err := neededLibraries(w.lib)
	if err != nil || len(needed) != 1 || !strings.HasPrefix(needed[0], "libc.so") {
		t.Errorf("needs %v, %v", needed, err)
	}
	if info, err := os.Stat(w.lib); err != nil || info.Size() > 76<<10 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

// The Makefile makes the same library without Go.
func TestMakefile(t *testing.T) {
	w := newWorld(t, session.Options{})
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("needs make: install with apt-get install make")
	}
	out := t.TempDir()
	if text, err := exec.Command("make", "OUT="+out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	w.lib = filepath.Join(out, "libdeft.so")
	w.run(w.command(w.clients.Client, "v2", "10"))
	if gone := w.reap(); len(gone) != 1 || gone[0].Launches != 10 {
		t.Errorf("the hook saw %+v", gone)
	}
}

// Eight clients at once on one device: every launch is counted, once.
func TestEightClients(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	probes := make([]*probe, 8)
	for i := range probes {
		probes[i] = w.probe()
		probes[i].send("threads %d", 100+i)
	}
	for i, p := range probes {
		if got := p.answer(); got != "ok" {
			t.Fatal(got)
		}
		if c := w.client(p); c.Launches != uint64(4*(100+i)) {
			t.Errorf("client %d: %d launches", i, c.Launches)
		}
	}
	for _, p := range probes {
		p.exit()
	}
	if gone := w.reap(); len(gone) != 8 {
		t.Errorf("%d clients are gone", len(gone))
	}
}

// More clients than slots: those without one go on, uncounted; the slots of
// the dead are taken without an owner's help.
func TestMoreClientsThanSlots(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	for range session.Slots + 6 {
		out := w.run(w.command(w.clients.Client, "dlsym", "10"))
		if out != "launches 10\n" {
			t.Fatal(out)
		}
	}
	if gone := w.reap(); len(gone) != session.Slots {
		t.Errorf("%d clients are gone, want %d", len(gone), session.Slots)
	} else {
		for _, c := range gone {
			if c.Launches != 10 || c.Job > 1 {
				t.Fatalf("counts of an earlier client: %+v", c)
			}
		}
	}
}

// A program that replaces itself by exec is one client, not two.
func TestReplacedProgram(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	for _, tt := range []struct {
		args  []string
		paths session.Paths
	}{{nil, session.PathDlsym}, {[]string{"dlmopen"}, session.PathNamespace}} {
		cmd := w.command(compileTest(t, "replace", "replace.c"), tt.args...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Errorf("%q, %v", line, err)
		}
		w.reap()
		if all := w.session.Clients(); len(all) != 1 || all[0].Paths&tt.paths == 0 {
			t.Errorf("%v: %+v", tt.args, all)
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		w.reap()
	}
}
