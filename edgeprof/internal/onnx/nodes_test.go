package onnx_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/onnx/nodetest"
)

// Of ONNX's own node tests few have an operator whose cost is unknown, or a shape that is
// unknown if the values of the inputs are given; and each inferred shape is the stated one.
func TestRealNodes(t *testing.T) {
	folders := nodetest.Models(t)
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
		if a, err = onnx.Analyze(m, onnx.Settings{Values: nodetest.Values(t, folder)}); err != nil {
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
	if operators > 60 || asStated > 30 || inferred > 8 || compared < 2000 {
		t.Error("more than before")
	}
}

func uncounted(a *onnx.Analysis, kind error) bool {
	return slices.ContainsFunc(a.UncountedWarnings(), func(w error) bool { return errors.Is(w, kind) })
}
