package runtime

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A folder that a killed program left is removed by the next that wants one; what is
// in use stays, and what was made a moment ago.
func TestScratch(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	used, remove, err := Scratch()
	if err != nil {
		t.Fatal(err)
	}
	left, fresh, other := filepath.Join(os.TempDir(), "edgeprof-1"), filepath.Join(os.TempDir(), "edgeprof-2"), filepath.Join(os.TempDir(), "else-3")
	ago := time.Now().Add(-time.Hour)
	for _, dir := range []string{left, fresh, other} {
		if err := os.MkdirAll(filepath.Join(dir, "rows"), 0o755); err != nil {
			t.Fatal(err)
		}
		if dir != fresh {
			if err := os.Chtimes(dir, ago, ago); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chtimes(used, ago, ago); err != nil {
		t.Fatal(err)
	}
	next, removeNext, err := Scratch()
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{left: false, fresh: true, other: true, used: true, next: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", dir, err == nil, want)
		}
	}
	for _, f := range []func() error{remove, removeNext} {
		if err := f(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(used); !os.IsNotExist(err) {
		t.Errorf("it stays: %v", err)
	}
}
