package onnx_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// nodeWheels lists the packages that the generator of ONNX's node tests needs.
var nodeWheels = []string{"onnx==1.23.2", "numpy==2.4.6", "protobuf==7.36.2", "ml_dtypes==0.6.0", "typing_extensions==4.16.0"}

// writeNodeTests writes the node tests and returns their folders, each with model.onnx and
// values.json.
func writeNodeTests(t *testing.T) []string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for ; dir != filepath.Dir(dir) && len(paths) == 0; dir = filepath.Dir(dir) {
		for _, wheel := range nodeWheels {
			at := filepath.Join(dir, "out", "real", "pip", wheel)
			if _, err := os.Stat(at); err == nil {
				paths = append(paths, at)
			}
		}
	}
	if len(paths) < len(nodeWheels) {
		t.Skipf("needs the wheels %s in out/real/pip", strings.Join(nodeWheels, ", "))
	}
	into := t.TempDir()
	t.Setenv("PYTHONPATH", strings.Join(paths, string(os.PathListSeparator)))
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	if text, err := exec.Command("python3", "testdata/nodes.py", into).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	folders, err := filepath.Glob(filepath.Join(into, "*"))
	if err != nil || len(folders) < 1800 {
		t.Fatalf("%d models, %v", len(folders), err)
	}
	return folders
}

// readValues returns the inputs of a node test that are short vectors of numbers.
func readValues(t *testing.T, folder string) map[string][]float64 {
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

// Of ONNX's own node tests few have an operator whose cost is unknown, or a shape that is
// unknown if the values of the inputs are given; and each inferred shape is the stated one.
func TestRealNodes(t *testing.T) {
	folders := writeNodeTests(t)
	asStated, inferred, compared := 0, 0, 0
	unknown := map[string]bool{}
	for _, folder := range folders {
		name := filepath.Base(folder)
		path := filepath.Join(folder, "model.onnx")
		m, err := onnx.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		a, err := onnx.Analyze(m, onnx.Settings{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		unknown[name] = uncounted(a, onnx.ErrOperator)
		if !unknown[name] && uncounted(a, onnx.ErrUnshaped) {
			asStated++
		}
		// without the shapes that the file states, but with the values of the inputs
		stated := slices.Clone(m.Graph.Outputs)
		m.Graph.Values = nil
		for i := range m.Graph.Outputs {
			m.Graph.Outputs[i].Known, m.Graph.Outputs[i].Type = false, 0
		}
		if a, err = onnx.Analyze(m, onnx.Settings{Values: readValues(t, folder)}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !unknown[name] && uncounted(a, onnx.ErrUnshaped) {
			inferred++
			t.Logf("%s: %v", name, a.UncountedWarnings())
		}
		for _, v := range stated {
			s := a.Tensors[v.Name]
			want := make([]int64, len(v.Shape))
			for i, d := range v.Shape {
				want[i] = d.Size
			}
			if !s.Known || !v.Known || slices.Contains(want, -1) {
				continue
			}
			compared++
			if !slices.Equal(s.Shape, want) || s.Type != 0 && v.Type != 0 && s.Type != v.Type {
				t.Errorf("%s: %s is %v of %v, want %v of %v", name, v.Name, s.Type, s.Shape, v.Type, want)
			}
		}
	}
	operators := 0
	for _, is := range unknown {
		if is {
			operators++
		}
	}
	t.Logf("%d models, %d outputs compared; with an unknown operator %d; with an unknown shape %d, without stated shapes and with the inputs' values %d", len(folders), compared, operators, asStated, inferred)
	if operators > 200 || asStated > 30 || inferred > 8 || compared < 2000 {
		t.Error("more than before")
	}
}

func uncounted(a *onnx.Analysis, kind error) bool {
	return slices.ContainsFunc(a.UncountedWarnings(), func(w error) bool { return errors.Is(w, kind) })
}
