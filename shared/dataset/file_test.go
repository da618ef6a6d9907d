package dataset

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.txt")
	put := func(text string, fail error) error {
		return WriteFile(path, func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			return fail
		})
	}
	holds := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("file holds %q, %v, want %q", got, err, want)
		}
		if names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(names) != 1 {
			t.Errorf("folder holds %v, %v", names, err)
		}
		if hidden, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(hidden) != 0 {
			t.Errorf("folder holds %v, %v", hidden, err)
		}
	}
	if err := put("one", nil); err != nil {
		t.Fatal(err)
	}
	holds("one")
	if err := put("a part", io.ErrShortWrite); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	holds("one") // a failure keeps the old bytes
	if err := put("two", nil); err != nil {
		t.Fatal(err)
	}
	holds("two")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestWriteFileKeepsTheOldFileFromReadersUntilTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.txt")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, "new"); err != nil {
			return err
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
			t.Errorf("a reader saw %q, %v", got, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriteFileIntoNoFolder(t *testing.T) {
	err := WriteFile(filepath.Join(t.TempDir(), "none", "out.txt"), func(io.Writer) error { return nil })
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
