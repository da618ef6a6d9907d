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
	for _, command := range []string{"launch 30", "sync", "capture", "side 5", "uncapture", "graphs 2 10", "launch 1", "sync"} {
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
	if len(got.Warnings) != 0 || len(got.Launches) != 33 {
		t.Fatalf("%d launches, want 33; %v", len(got.Launches), got.Warnings)
	}
	for i, l := range got.Launches {
		want, kernels := 50*time.Microsecond, 1
		if i == 30 || i == 31 {
			want, kernels = 500*time.Microsecond, 10
		}
		if l.Time < want-10*time.Microsecond || l.Time > want+10*time.Microsecond || l.Kernels != kernels || l.Wait != (i == 30) {
			t.Errorf("launch %d: %+v, want %v", i, l, want)
		}
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil || len(raw)%56 != 0 || binary.LittleEndian.Uint32(raw) != 3 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}
