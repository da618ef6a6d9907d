package hook_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/cc"
	"github.com/foretime/foretime/deft/internal/pair"
	"github.com/foretime/foretime/deft/internal/session"
)

// The C files of libdeft.so, and of libdeft-trace.so, with the probe in one program,
// under each sanitizer, while the owner keeps changing its directives.
func TestSanitizers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: C is under test")
	}
	for _, kind := range []string{"address", "undefined", "thread"} {
		t.Run(kind, func(t *testing.T) { sanitized(t, kind) })
		t.Run("trace/"+kind, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "trace")
			sanitized(t, kind, "DEFT_TRACE="+file)
			recorded := 0
			paths, err := filepath.Glob(file + ".*") // the process, and forked children
			for _, path := range paths {
				if r, err := pair.ReadRecording(path, 0); err == nil {
					recorded += len(r.Launches)
				}
			}
			if err != nil || recorded < 1000 {
				t.Errorf("%d launches recorded in %q (%v)", recorded, paths, err)
			}
		})
	}
}

// sanitized runs the probe under a sanitizer; with environ, that of libdeft-trace.so.
func sanitized(t *testing.T, kind string, environ ...string) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	w.device.More = append(w.device.More, "SIMCUDA_AFTER_FORK=allow")
	program, err := w.buildSanitized(kind, len(environ) > 0)
	if err != nil {
		t.Fatal(err)
	}
	p := w.probeOf(program, append(environ, "LD_PRELOAD=",
		"ASAN_OPTIONS=halt_on_error=1:detect_leaks=0", "TSAN_OPTIONS=halt_on_error=1", "UBSAN_OPTIONS=halt_on_error=1")...)
	p.do("launch 1")
	slot := w.client(p).Slot
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				w.session.Direct(slot, session.Directive{})
				return
			default:
			}
			w.session.Direct(slot, session.Directive{Closed: i%4 == 0, SyncEvery: i % 3 * 5, InFlightTime: time.Duration(i%5) * unknownKernel, Timed: i%7 == 0})
			w.session.Reap()
			w.session.Beat()
		}
	})
	for range 3 {
		for _, command := range []string{
			"threads 300", "sync", "begin 5", "alloc 1000", "side 50", "info", "free", "end",
			"capture", "side 5", "launch 5", "uncapture", "threads 50", "fork 20", "sync",
		} {
			p.do("%s", command)
		}
	}
	close(stop)
	wg.Wait()
	if c := w.client(p); c.Launches != 1+3*(1200+50+5+200) || c.Captured != 15 || c.MemoryBytes != 0 {
		t.Errorf("got %+v", c)
	}
	p.exit()
}

// buildSanitized links the library into the probe. The sanitizers' run-time
// libraries need libc's dlsym to themselves, so but for one the program has no
// dlsym of its own.
func (w *world) buildSanitized(kind string, trace bool) (string, error) {
	args := []string{
		"-std=gnu11", "-O1", "-g", "-fno-strict-aliasing", "-fno-omit-frame-pointer", "-fvisibility=hidden", "-pthread", "-rdynamic",
		"-fsanitize=" + kind, "-fno-sanitize-recover=all", "probe.c",
	}
	if kind == "undefined" {
		args = append(args, "-DDEFT_UNVERSIONED")
	} else {
		args = append(args, "-DLINKED", `-DDEFT_SHIM="`+w.driver.Driver+`"`)
	}
	if trace {
		args = append(args, "-DDEFT_TRACE", "trace.c")
	}
	return cc.Build(w.t.Context(), needCompiler(w.t), cc.Product{Name: "probe-" + kind, Sources: []fs.FS{hook.Sources(), os.DirFS("testdata")}, Args: append(args, hook.Files()...)})
}
