package gpu

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// python is the system's own interpreter, whose packages Debian installs.
const python = "/usr/bin/python3"

func TestRealRunModelParts(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skip("needs python3: install with apt-get install python3")
	}
	out, err := exec.Command(python, "-B", "-m", "unittest", "run_model_test", "checks_test").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("Ran 20 tests")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A classifier and a detector on the processor, through the whole protocol.
func TestRealRunModelOnTheProcessor(t *testing.T) {
	if exec.Command(python, "-c", "import torchvision").Run() != nil {
		t.Skip("needs torchvision: install with apt-get install python3-torchvision")
	}
	for name, last := range map[string]string{"resnet18": "jobs 1\n", "fasterrcnn_mobilenet_v3_large_320_fpn": " detections in 2 jobs\n"} {
		dir := t.TempDir()
		entry, err := json.Marshal(map[string]any{
			"model_name": name, "output_file_path": dir, "output_file_name": "a", "resize_size": []int{64, 96}, "sync_level": "layer",
		})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "model.json")
		if err := os.WriteFile(file, entry, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, "-B", "run_model.py", file, "cpu", "0", "--sync-model-load", "--min-jobs", "1")
		cmd.Stdin = strings.NewReader("run\n")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "model loaded\njobs 1\n") || !strings.HasSuffix(string(out), last) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		rows, err := os.ReadFile(filepath.Join(dir, "a.csv"))
		if err != nil || strings.Count(string(rows), "\n") != 3 {
			t.Errorf("%s: %v\n%s", name, err, rows)
		}
	}
	if out, err := exec.Command(python, "-B", "run_model.py", "gpu_test.go", "cpu", "0").CombinedOutput(); err == nil || !bytes.HasPrefix(out, []byte("run_model.py: gpu_test.go: ")) {
		t.Errorf("a wrong file: %v %s", err, out)
	}
}
