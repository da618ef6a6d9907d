package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The library is found next to the program, in an active Python environment, in a wheel
// below out/real, and in what python3 names, in this order; the
// system's loader is asked last. Folders may have the signs of patterns in their
// names.
func TestCandidates(t *testing.T) {
	root := t.TempDir()
	put := func(parts ...string) string {
		path := filepath.Join(append([]string{root}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	next := put("bin", "libonnxruntime.so.1")
	active := put("a [venv]", "lib", "python3.13", "site-packages", "onnxruntime", "capi", "libonnxruntime.so.1.32.0")
	wheel := put("work", "out", "real", "pip", "onnxruntime==1.30.0", "onnxruntime", "capi", "libonnxruntime.so.1.30.0")
	system := put("dist-packages", "onnxruntime", "capi", "libonnxruntime.so.1.20.1")
	put("dist-packages", "onnxruntime", "capi", "libonnxruntime_providers_shared.so")
	debian := put("usr", "lib", "x86_64-linux-gnu", "libonnxruntime.so.1.21")
	node := put("work", "node_modules", "onnxruntime-node", strings.Replace(nodeFolder, "napi-v*", "napi-v3", 1), "libonnxruntime.so.1.16.3")
	s := search{
		folders:     []string{filepath.Join(root, "work", "deep", "down"), filepath.Join(root, "bin")},
		environment: filepath.Join(root, "a [venv]"),
		python:      filepath.Join(root, "dist-packages", "onnxruntime"),
		prefixes:    []string{filepath.Join(root, "usr", "lib")},
	}
	if got, want := s.candidates(), []string{next, active, wheel, node, next, system, soName, debian}; !slices.Equal(got, want) {
		t.Errorf("candidates %q, want %q", got, want)
	}
	none := search{}
	if got := none.candidates(); !slices.Equal(got, []string{soName}) {
		t.Errorf("of nothing installed: %q", got)
	}
}
