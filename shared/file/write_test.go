package file_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foretime/foretime/shared/file"
)

func put(path, text string) error {
	return file.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// holds checks a file's bytes, and that its directory has n entries.
func holds(t *testing.T, path, want string, n int) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != n {
		t.Errorf("directory holds %v, %v, want %d entries", entries, err, n)
	}
}

// umask sets the process's umask for one test.
func umask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.txt")
	if err := put(path, "one"); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "one", 1)
	err := file.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "a part")
		holds(t, path, "one", 2) // a reader sees the old bytes until the end
		return errors.Join(err, io.ErrShortWrite)
	})
	if !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	holds(t, path, "one", 1) // a failure keeps them
	if err := put(path, "two"); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "two", 1)
}

func TestWriteAfterAPanicLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.txt")
	if err := put(path, "old"); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { recover() }()
		file.Write(path, func(io.Writer) error { panic("of the caller") })
	}()
	holds(t, path, "old", 1)
}

func TestWriteMode(t *testing.T) {
	for _, c := range []struct {
		name     string
		umask    int
		existing os.FileMode // 0: none
		want     os.FileMode
	}{
		{"new", 0o022, 0, 0o644},
		{"new under umask 077", 0o077, 0, 0o600},
		{"new under umask 0", 0, 0, 0o666},
		{"existing keeps its own", 0o022, 0o600, 0o600},
		{"existing wider than the umask", 0o077, 0o664, 0o664},
		{"existing read-only", 0o022, 0o444, 0o444},
	} {
		t.Run(c.name, func(t *testing.T) {
			umask(t, c.umask)
			path := filepath.Join(t.TempDir(), "out.txt")
			if c.existing != 0 {
				if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chmod(path, c.existing)); err != nil {
					t.Fatal(err)
				}
			}
			if err := put(path, "new"); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != c.want {
				t.Errorf("mode %v, %v, want %v", info.Mode(), err, c.want)
			}
		})
	}
}

func TestWriteThroughLinks(t *testing.T) {
	for _, existing := range []bool{true, false} {
		dir := t.TempDir()
		target := filepath.Join(dir, "far", "target.txt")
		if err := os.Mkdir(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if existing {
			if err := put(target, "old"); err != nil {
				t.Fatal(err)
			}
		}
		// first -> second -> far/target.txt, the first link absolute, the second
		// relative.
		first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
		if err := errors.Join(os.Symlink(second, first), os.Symlink("far/target.txt", second)); err != nil {
			t.Fatal(err)
		}
		if err := put(first, "new"); err != nil {
			t.Fatal(err)
		}
		holds(t, target, "new", 1)
		for _, link := range []string{first, second} {
			if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("%s is a link no more: %v, %v", link, info.Mode(), err)
			}
		}
	}
}

func TestWriteToALinkToItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	if err := os.Symlink("ring", path); err != nil {
		t.Fatal(err)
	}
	if err := put(path, "x"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("got %v", err)
	}
}

func TestWriteToAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		read <- string(text)
	}()
	if err := put(path, "through"); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through" {
		t.Errorf("the reader got %q", got)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("not a pipe any more: %v, %v", info, err)
	}
}

// TestWriteToADevice writes to device nodes that it creates:
// linux/Documentation/admin-guide/devices.txt gives /dev/full the numbers 1 and 7,
// /dev/null 1 and 3.
func TestWriteToADevice(t *testing.T) {
	for _, c := range []struct {
		name  string
		minor int
		want  error
	}{{"null", 3, nil}, {"full", 7, syscall.ENOSPC}} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|c.minor); err != nil {
			t.Skipf("skipped: a device node cannot be made: %v", err)
		}
		err := put(path, "x")
		if errors.Is(err, os.ErrPermission) {
			t.Skipf("skipped: devices cannot be opened in %s: %v", filepath.Dir(path), err)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeCharDevice == 0 {
			t.Errorf("%s is a device no more: %v, %v", c.name, info, err)
		}
	}
}

func TestWriteToAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("skipped: a small file system cannot be mounted: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	path := filepath.Join(dir, "out.txt")
	if err := put(path, "old"); err != nil {
		t.Fatal(err)
	}
	err := put(path, strings.Repeat("x", 1<<20))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "/.out") {
		t.Errorf("got %v", err)
	}
	holds(t, path, "old", 1)
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := put(dir, "x"); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
	none := filepath.Join(dir, "none", "out.txt")
	if err := put(none, "x"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), none+":") {
		t.Errorf("no directory: %v", err)
	}
}

func TestWriteJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	if err := file.WriteJSON(path, map[string]any{"unit": "<s>", "n": 1}); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "{\n  \"n\": 1,\n  \"unit\": \"<s>\"\n}\n", 1)
	if err := file.WriteJSON(path, func() {}); err == nil || !strings.HasPrefix(err.Error(), path+":") {
		t.Errorf("got %v", err)
	}
	holds(t, path, "{\n  \"n\": 1,\n  \"unit\": \"<s>\"\n}\n", 1)
}
