package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/runtime"
	"github.com/foretime/foretime/edgeprof/runtime/worker"
	"github.com/foretime/foretime/edgeprof/split"
	"github.com/foretime/foretime/edgeprof/synth"
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
			tensors, want := inOrt(t, whole, nil)
			for i, p := range parts {
				path := filepath.Join(folder, fmt.Sprintf("part%d.onnx", i+1))
				save(t, path, func(w io.Writer) error { return p.Write(w, file) })
				_, out := inOrt(t, path, tensors)
				maps.Copy(tensors, out)
			}
			got := map[string]runtime.Tensor{}
			for name := range want {
				got[name] = tensors[name]
			}
			agree(t, fmt.Sprintf("%d parts", len(parts)), got, want)
		})
	}
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

// inOrt runs a model on those of the tensors that it takes, or on random ones.
func inOrt(t *testing.T, path string, tensors map[string]runtime.Tensor) (in, out map[string]runtime.Tensor) {
	t.Helper()
	s, err := worker.Start(t.Context(), worker.Command{Path: os.Args[0], Env: append(os.Environ(), role+"=1")}, worker.Model{Path: path, Threads: 1})
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
