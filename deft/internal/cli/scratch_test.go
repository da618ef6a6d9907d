package cli

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestScratch(t *testing.T) {
	parent := t.TempDir()
	left := filepath.Join(parent, "deft-run-1") // its owner was killed
	if err := os.MkdirAll(filepath.Join(left, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(parent, "deft-notes")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	a, err := newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the abandoned folder stays: %v", err)
	}
	b, err := newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{a.path, other} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s was in use: %v", path, err)
		}
	}
	a.Remove()
	b.Remove()
	if rest, _ := filepath.Glob(filepath.Join(parent, "*")); len(rest) != 1 {
		t.Errorf("left: %v", rest)
	}
	if _, err := newScratch(filepath.Join(parent, "none")); err == nil {
		t.Error("a folder in one that is not there")
	}
}

// Runs that start at once never share a folder, nor remove each other's.
func TestScratchAtOnce(t *testing.T) {
	parent := t.TempDir()
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]*scratch{}
	for range 16 {
		all.Go(func() {
			s, err := newScratch(parent)
			if err != nil {
				t.Error(err)
				return
			}
			if err := os.WriteFile(filepath.Join(s.path, "device"), nil, 0o600); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if seen[s.path] != nil {
				t.Errorf("%s twice", s.path)
			}
			seen[s.path] = s
		})
	}
	all.Wait()
	for path, s := range seen {
		if _, err := os.Stat(filepath.Join(path, "device")); err != nil {
			t.Error(err)
		}
		s.Remove()
	}
}
