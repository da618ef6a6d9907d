package hook_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/pair"
	"github.com/foretime/foretime/deft/internal/session"
)

// Every launch, graph and wait of a program is recorded, with the time that its kernels
// take; captures are left alone.
func TestTrace(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	lib, err := hook.BuildTrace(t.Context(), needCompiler(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "trace")
	cmd := w.command(compileTest(t, "probe", "probe.c"))
	cmd.Env = append(cmd.Env, "LD_PRELOAD="+lib, "DEFT_TRACE="+file, "SIMCUDA_NS_PER_BLOCK=50")
	p := w.started(cmd)
	for _, command := range []string{"launch 30", "sync", "capture", "side 5", "uncapture", "graphs 2 10", "launch 1", "sync", "alloc 64", "copy", "fetch", "launch 1", "sync"} {
		p.do("%s", command)
	}
	p.exit()
	paths, err := filepath.Glob(file + ".*")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	got, err := pair.ReadRecording(paths[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Warnings) != 0 || len(got.Launches) != 36 {
		t.Fatalf("%d launches, want 36; %v", len(got.Launches), got.Warnings)
	}
	shortest := time.Hour // of single kernels; a machine that is busy delays some
	for i, l := range got.Launches {
		kernels := map[bool]int{true: 10, false: 1}[i == 30 || i == 31]
		if l.Kernels != kernels || l.Wait != (i == 30 || i == 33 || i == 35) {
			t.Errorf("launch %d: %+v", i, l)
		}
		if i < 30 {
			shortest = min(shortest, l.Time)
		}
	}
	graph := max(got.Launches[30].Time, got.Launches[31].Time)
	if shortest < 49*time.Microsecond || shortest > 60*time.Microsecond || graph < 490*time.Microsecond {
		t.Errorf("a kernel of 50 us takes %v, a graph of ten %v", shortest, graph)
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil || len(raw)%56 != 0 || binary.LittleEndian.Uint32(raw) != 3 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}
