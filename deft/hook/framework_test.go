package hook_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// Frameworks that reach the driver by public ways run over the simulated one, and
// the hook counts each launch that the driver counts. What asks the driver for
// private tables, as CuPy and PyTorch do by the CUDA runtime, cannot run there.
func TestRealFrameworks(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3: install with apt-get install python3")
	}
	for _, tt := range []struct {
		script   string
		packages []string
		env      string
		graphs   uint64
		says     string
	}{
		{"framework_tinygrad.py", []string{"tinygrad=="}, "DEV=CUDA:PTX", 9, "trained\n"},
		{"framework_cuda.py", []string{"cuda-bindings==", "cuda-pathfinder=="}, "", 5, "blocks 8\n"},
		// Taichi opens the driver with RTLD_DEEPBIND, past every preloaded library
		{"framework_taichi.py", []string{"taichi==", "numpy==", "colorama==", "dill==", "rich==", "markdown-it-py==", "mdurl==", "pygments=="}, "DEFT_DEEPBIND=strip", 0, "[Taichi] Starting on arch=cuda\narch cuda\n"},
		{"framework_halide.py", []string{"halide==", "numpy=="}, "", 0, "size 64 64\n"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			counts := filepath.Join(t.TempDir(), "counts")
			cmd := w.command(python, filepath.Join("testdata", tt.script))
			cmd.Env = append(cmd.Env, tt.env, "SIMCUDA_COUNTS="+counts, "PYTHONDONTWRITEBYTECODE=1", "CACHELEVEL=0", "HOME="+t.TempDir(), "ENABLE_TAICHI_HEADER_PRINT=0", "PYTHONPATH="+packages(t, tt.packages))
			if out := w.run(cmd); out != tt.says {
				t.Errorf("it said %q", out)
			}
			text, err := os.ReadFile(counts)
			if err != nil {
				t.Fatal(err)
			}
			var driver struct{ Launches, Graphs uint64 }
			if err := json.Unmarshal(text, &driver); err != nil {
				t.Fatal(err)
			}
			gone := w.reap()
			if len(gone) != 1 {
				t.Fatalf("clients %+v", gone)
			}
			c := gone[0]
			if seen := c.Launches + c.Captured; seen != driver.Launches || driver.Launches < 50 || c.GraphLaunches != driver.Graphs || driver.Graphs != tt.graphs {
				t.Errorf("the hook saw %d launches and %d of graphs, the driver %+v", seen, c.GraphLaunches, driver)
			}
			t.Logf("%d launches, %d of graphs, by the hook and by the driver", driver.Launches, driver.Graphs)
		})
	}
}

// packages are the folders of wheels that are installed for such tests.
func packages(t *testing.T, names []string) string {
	t.Helper()
	var folders []string
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join("..", "..", "out", "real", "pip", name+"*"))
		if err != nil || len(found) == 0 {
			t.Skipf("needs the wheel %s of deft/real.txt in out/real/pip", strings.TrimSuffix(name, "=="))
		}
		path, err := filepath.Abs(found[0])
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, path)
	}
	return strings.Join(folders, ":")
}
