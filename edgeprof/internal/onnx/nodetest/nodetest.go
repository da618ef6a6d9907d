package nodetest

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed nodes.py
var script string

// wheels lists the packages that the generator needs.
var wheels = []string{"onnx==1.23.2", "numpy==2.4.6", "protobuf==7.36.2", "ml_dtypes==0.6.0", "typing_extensions==4.16.0"}

// Models returns the folders of the tests, each with model.onnx, test_data_set_0 and
// values.json.
func Models(t *testing.T) []string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for ; dir != filepath.Dir(dir) && len(paths) == 0; dir = filepath.Dir(dir) {
		for _, wheel := range wheels {
			if at := filepath.Join(dir, "out", "real", "pip", wheel); exists(at) {
				paths = append(paths, at)
			}
		}
	}
	if len(paths) < len(wheels) {
		t.Skipf("needs the wheels %s in out/real/pip", strings.Join(wheels, ", "))
	}
	into := t.TempDir()
	t.Setenv("PYTHONPATH", strings.Join(paths, string(os.PathListSeparator)))
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	c := exec.Command("python3", "-c", script, into)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	models, err := filepath.Glob(filepath.Join(into, "*", "model.onnx"))
	if err != nil || len(models) < 1800 {
		t.Fatalf("%d models, %v", len(models), err)
	}
	for i := range models {
		models[i] = filepath.Dir(models[i])
	}
	slices.Sort(models)
	return models
}

// Values returns the inputs of a test that are short vectors of numbers.
func Values(t *testing.T, folder string) map[string][]float64 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "values.json"))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]float64{}
	if err := json.Unmarshal(data, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
