package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/allox-est/python"
	"github.com/foretime/foretime/shared/uncertainty"
)

var torch = flag.String("torch", "", "a Python with PyTorch, for TestTorch")

// TestTorch estimates a PyTorch job on the CPU and on the GPU through run.sh, and
// holds both against three whole runs. Where there is no GPU the job falls back
// to the CPU in silence, and its row is refused.
func TestTorch(t *testing.T) {
	if *torch == "" {
		t.Skip("needs PyTorch: run with go test -run TestTorch -v ./allox-est/internal/cli -torch /usr/bin/python3")
	}
	command(t)
	dir := t.TempDir()
	for _, name := range []string{"run.sh", "train.py"} {
		text, err := os.ReadFile(filepath.Join("testdata", "torch", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	job := `
name: torch
command: [./run.sh, "{epochs}", "{hw}"]
epochs: 200
env: {PYTHON: ` + *torch + `}
devices: {cpu: {threads: 1}, gpu: {count: 1}}
`
	for name, text := range map[string]string{"job.yaml": job, "time_writter.py": string(python.TimeWriter)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("allox-est", "validate", "job.yaml", "--runs", "3", "--json")
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var r struct {
		Devices map[string]struct {
			Error  string
			Wall   uncertainty.Prediction `json:"wall_seconds"`
			Actual []struct {
				Wall float64 `json:"wall_seconds"`
			}
			Relative struct{ Wall, CPU float64 } `json:"relative_error"`
			Covered  struct{ Wall, CPU bool }
		}
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	for name, d := range r.Devices {
		t.Logf("%s: %+v", name, d)
	}
	if cpu := r.Devices["cpu"]; cpu.Error != "" || len(cpu.Actual) != 3 {
		t.Errorf("cpu: %+v", cpu)
	}
	devices, _ := filepath.Glob("/dev/nvidia[0-9]*")
	switch gpu := r.Devices["gpu"]; {
	case len(devices) == 0 && !strings.Contains(gpu.Error, "ran on the CPU"):
		t.Errorf("without a GPU: %+v", gpu)
	case len(devices) > 0 && (gpu.Error != "" || len(gpu.Actual) != 3):
		t.Errorf("gpu: %+v", gpu)
	}
}
