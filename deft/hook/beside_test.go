package hook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/deft/internal/session"
)

// libdeft's dlsym is a jump: who asks for the next definition gets the one
// after itself, and the next library's dlsym sees the program as its caller.
func TestDlsymIsAJump(t *testing.T) {
	w := newWorld(t, session.Options{})
	shared := []string{"-shared", "-fPIC", "next.c"}
	first := compileTest(t, "libfirst.so", append(shared, "-DFIRST")...)
	second := compileTest(t, "libsecond.so", append(shared, "-DSECOND")...)
	witness := compileTest(t, "libwitness.so", append(shared, "-DWITNESS", "-Wl,--version-script=other.map")...)
	program := compileTest(t, "next", "-Wl,--no-as-needed", "next.c", first, second)
	for _, tt := range []struct{ preload, want string }{
		{"", "next 2 caller none\n"},
		{w.lib, "next 2 caller none\n"},
		{w.lib + ":" + witness, "next 1 caller program\n"},
		{witness, "next 1 caller program\n"},
	} {
		cmd := w.command(program)
		cmd.Env = append(cmd.Env, "LD_PRELOAD="+tt.preload)
		got := w.run(cmd)
		if filepath.Base(tt.preload) == "libwitness.so" { // which calls instead of jumping, and so spoils the answer
			var next int
			var caller string
			if _, err := fmt.Sscanf(got, "next %d caller %s", &next, &caller); err != nil || caller != "program" {
				t.Errorf("LD_PRELOAD=%s: %q, %v", tt.preload, got, err)
			}
			continue
		}
		if got != tt.want {
			t.Errorf("LD_PRELOAD=%s: %q, want %q", tt.preload, got, tt.want)
		}
	}
}

// libdeft's dlopen is a jump too: a library is searched where its caller says.
func TestDlopenIsAJump(t *testing.T) {
	w := newWorld(t, session.Options{})
	second := compileTest(t, "libsecond.so", "-shared", "-fPIC", "next.c", "-DSECOND")
	opener := compileTest(t, "libopener.so", "-shared", "-fPIC", "next.c", "-DOPENER", "-Wl,-rpath,"+filepath.Dir(second), "-Wl,--enable-new-dtags")
	program := compileTest(t, "open", "next.c", "-DOPEN", opener)
	for _, preload := range []string{"", w.lib} {
		cmd := w.command(program)
		cmd.Env = append(cmd.Env, "LD_PRELOAD="+preload)
		if got := w.run(cmd); got != "opened 2\n" {
			t.Errorf("LD_PRELOAD=%s: %q", preload, got)
		}
	}
}

// Another library that wraps dlsym, the launch and the driver's lookup sees
// every launch as well, whichever comes first.
func TestBesideAnotherHook(t *testing.T) {
	w := newWorld(t, session.Options{})
	shared := []string{"-shared", "-fPIC", "-fvisibility=hidden", "other.c"}
	versioned := compileTest(t, "libother.so", append(shared, "-Wl,--version-script=other.map")...)
	unversioned := compileTest(t, "libother-unversioned.so", append(shared, "-DUNVERSIONED")...)
	for _, other := range []string{versioned, unversioned} {
		for _, preload := range []string{w.lib + ":" + other, other + ":" + w.lib} {
			for _, way := range []string{"dlsym", "v2", "linked"} {
				t.Run(way+" "+filepath.Base(preload)+" last", func(t *testing.T) {
					count := filepath.Join(t.TempDir(), "count")
					cmd := w.command(w.clients.Client, way, "10")
					if way == "linked" {
						cmd = w.command(w.clients.Direct, "10")
					}
					cmd.Env = append(cmd.Env, "LD_PRELOAD="+preload, "OTHER_COUNT="+count)
					w.run(cmd)
					gone := w.reap()
					theirs, err := os.ReadFile(count)
					if len(gone) != 1 || gone[0].Launches != 10 || err != nil || string(theirs) != "10" {
						t.Errorf("the other saw %q (%v), the hook %+v", theirs, err, gone)
					}
				})
			}
		}
	}
}

// A driver that looks its own names up, inside its lookup, gets an end.
func TestDriverThatLooksItselfUp(t *testing.T) {
	w := newWorld(t, session.Options{})
	w.device.More = append(w.device.More, "SIMCUDA_FAULT=dlsym")
	for _, way := range []string{"dlsym", "v2", "double", "v1", "ptds"} {
		w.run(w.command(w.clients.Client, way, "10"))
		if gone := w.reap(); len(gone) != 1 || gone[0].Launches != 10 {
			t.Errorf("%s: the hook saw %+v", way, gone)
		}
	}
	driver := compileTest(t, "libcuda.so.1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "recursive.c")
	cmd := w.command(compileTest(t, "reach", "reach.c"))
	cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+filepath.Dir(driver))
	if got := w.run(cmd); got != "done\n" {
		t.Errorf("got %q", got)
	}
	if gone := w.reap(); len(gone) != 1 || gone[0].Launches != 10 {
		t.Errorf("the hook saw %+v", gone)
	}
}
