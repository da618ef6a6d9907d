package tour

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuild checks that all commands are built. An optional one that fails is
// reported, an older binary of it is removed, and the others are built.
func TestBuild(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "a/main.go": "package main\n\nfunc main() {}\n", "b/main.go": "package main\n\nfunc main() { nonesuch() }\n", "bin/b": "an older one\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	var log bytes.Buffer
	s := &Stage{Root: root, Bin: filepath.Join(root, "bin"), Log: &log}
	if err := s.build(t.Context(), []build{{pkg: "./a"}, {pkg: "./b", optional: true}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.Bin, "a")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(s.Bin, "b")); err == nil {
		t.Error("a program of an older checkout stays")
	}
	if !strings.Contains(log.String(), "without ./b: ") || !strings.Contains(log.String(), "nonesuch") {
		t.Errorf("log: %s", &log)
	}
	if err := s.build(t.Context(), []build{{pkg: "./a"}, {pkg: "./b"}}); err == nil || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("a needed one that does not build: %v", err)
	}
}
