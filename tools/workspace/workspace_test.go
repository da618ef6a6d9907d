package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	write(t, root, "go.work", "go 1.26.0\nuse (\n\t./b\n\t./a\n)\n")
	write(t, root, "a/go.mod", "module example.com/a\n")
	write(t, root, "b/go.mod", "module example.com/b\n")
	write(t, root, "b/deep/x.go", "package deep\n")

	ws, err := Find(filepath.Join(root, "b", "deep"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Module{
		{Name: "a", Path: "example.com/a", Dir: filepath.Join(root, "a")},
		{Name: "b", Path: "example.com/b", Dir: filepath.Join(root, "b")},
	}
	if diff := cmp.Diff(want, ws.Modules); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
}

func TestFindErrors(t *testing.T) {
	if _, err := Find(t.TempDir()); !errors.Is(err, ErrNoWorkspace) {
		t.Errorf("no go.work: got %v, want ErrNoWorkspace", err)
	}
	root := t.TempDir()
	write(t, root, "go.work", "go 1.26.0\nuse ./gone\n")
	if _, err := Find(root); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing module: got %v, want ErrNotExist", err)
	}
}
