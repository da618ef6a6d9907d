package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/runtime/worker"
	"github.com/foretime/foretime/edgeprof/internal/split"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// In ONNX Runtime too the parts of a model, one after the other, compute what
// the whole computes.
func TestRealParts(t *testing.T) {
	needLibrary(t)
	for _, family := range synth.Families() {
		t.Run(family, func(t *testing.T) {
			m, err := synth.New(family, tiny[family])
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			whole := filepath.Join(folder, "whole.onnx")
			save(t, whole, func(w io.Writer) error { return onnx.Write(w, m, synth.Weights(1)) })
			if m, err = onnx.ReadFile(whole); err != nil {
				t.Fatal(err)
			}
			a, err := onnx.Analyze(m, onnx.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			parts, err := split.Parts(a, split.Settings{MinDistance: 12})
			if errors.Is(err, split.ErrNoBridge) {
				parts, err = split.Parts(a, split.Settings{MinDistance: 3}) // a short model
			}
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.Open(whole)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			tensors, want := inOrt(t, whole, nil, nil)
			agree(t, fmt.Sprintf("%d parts", len(parts)), chained(t, parts, file, tensors, want), want)
		})
	}
}

// Models that people ship are split too, all of them.
func TestRealModelParts(t *testing.T) {
	needLibrary(t)
	for _, tt := range wheels {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			path := filepath.Join(installed(t, tt.wheel), tt.file)
			m, err := onnx.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			a, err := onnx.Analyze(m, onnx.Settings{Sizes: tt.sizes})
			if err != nil {
				t.Fatal(err)
			}
			parts, err := split.Parts(a, split.Settings{MinDistance: max(6, len(a.Order)/6)})
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			tensors, want := inOrt(t, path, nil, tt.sizes)
			for name, x := range chained(t, parts, file, tensors, want) {
				if d := farthest(x.Data, want[name].Data); !(d <= 1e-5) {
					t.Errorf("%d parts: %q is %.2g away", len(parts), name, d)
				}
			}
		})
	}
}

// chained runs parts one after the other, on the tensors that the whole took, and
// returns what the whole gives.
func chained(t *testing.T, parts []split.Part, file *os.File, tensors, want map[string]runtime.Tensor) map[string]runtime.Tensor {
	t.Helper()
	folder := t.TempDir()
	for i, p := range parts {
		path := filepath.Join(folder, fmt.Sprintf("part%d.onnx", i+1))
		save(t, path, func(w io.Writer) error { return p.Write(w, file) })
		sizes := map[string]int64{} // of dimensions that the part leaves open
		for _, v := range p.Model.Graph.Inputs {
			for axis, d := range v.Shape {
				if x, ok := tensors[v.Name]; ok && d.Size < 0 {
					sizes[fmt.Sprintf("%s:%d", v.Name, axis)] = x.Shape[axis]
				}
			}
		}
		_, out := inOrt(t, path, tensors, sizes)
		maps.Copy(tensors, out)
	}
	got := map[string]runtime.Tensor{}
	for name := range want {
		got[name] = tensors[name]
	}
	return got
}

func save(t *testing.T, path string, write func(io.Writer) error) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// inOrt runs a model on those of the tensors that it takes, or on random ones; in
// this process, since there are many.
func inOrt(t *testing.T, path string, tensors map[string]runtime.Tensor, sizes map[string]int64) (in, out map[string]runtime.Tensor) {
	t.Helper()
	s, err := load(t.Context(), worker.Model{Path: path, Threads: 1, Sizes: sizes})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in = random(s.Inputs())
	for name := range in {
		if x, ok := tensors[name]; ok {
			in[name] = x
		} else if tensors != nil {
			t.Fatalf("%s takes %q, which nothing made", filepath.Base(path), name)
		}
	}
	if out, err = s.Run(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return in, out
}
