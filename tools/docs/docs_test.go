package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

func TestCheck(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"good/doc.go":   "// Package good is good.\npackage good\n",
		"good/a.go":     "package good\n\n// A is.\ntype A struct{}\n\nfunc (A) String() string { return \"\" }\n\nfunc (A) Bare() {}\n\ntype b struct{}\n\nfunc (b) Fine() {}\n",
		"good/v.go":     "package good\n\n// Modes.\nconst (\n\tX = 1\n\tY = 2\n)\n\nvar (\n\tZ = 3 // z\n\tW = 4\n)\n\nfunc F() {}\n",
		"bare/a.go":     "// Package bare has its comment in the wrong file.\npackage bare\n",
		"cmd/x/main.go": "// Command x does.\npackage main\n\nfunc Exported() {}\n",
		"cmd/y/main.go": "package main\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws := &workspace.Workspace{Root: root, Modules: []workspace.Module{{Name: "m", Dir: root}}}
	got, err := Check(ws)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"good/a.go:8: exported Bare without a comment",
		"good/v.go:11: exported W without a comment",
		"good/v.go:14: exported F without a comment",
		"bare: package without its comment (doc.go, or main.go for a command)",
		"cmd/y: package without its comment (doc.go, or main.go for a command)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}
