package file_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/foretime/foretime/shared/file"
)

const marker = ".foretime-scratch"

// TestMain lets the test binary act as a program that is killed: it creates a
// scratch directory and exits without removing it.
func TestMain(m *testing.M) {
	if parent := os.Getenv("SCRATCH_TEST_PARENT"); parent != "" {
		dir, err := file.NewScratch(parent, "tool-")
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, "deep", "deeper"), 0o755)
		}
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(dir)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// leave returns a scratch directory in parent whose owner has ended.
func leave(t *testing.T, parent string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SCRATCH_TEST_PARENT="+parent)
	dir, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(dir)
}

// edit changes the marker of a scratch directory.
func edit(t *testing.T, dir string, change func(*file.Owner)) {
	t.Helper()
	path := filepath.Join(dir, marker)
	var o file.Owner
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(&o)
	if err := file.WriteJSON(path, o); err != nil {
		t.Fatal(err)
	}
}

// TestNewScratch checks that only a directory with its own marker, whose owner has
// ended, is removed. A user's directory is kept whatever its name and age.
func TestNewScratch(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(t *testing.T, parent string) string // returns the directory
		stays bool
	}{
		{"owner ended", leave, false},
		{"owner's number given to another process", func(t *testing.T, parent string) string {
			dir := leave(t, parent)
			edit(t, dir, func(o *file.Owner) { o.PID = os.Getpid() })
			return dir
		}, false},
		{"before the last boot", func(t *testing.T, parent string) string {
			dir := leave(t, parent)
			edit(t, dir, func(o *file.Owner) { o.Boot = "earlier"; o.PID = os.Getpid() })
			return dir
		}, false},
		{"owner alive", func(t *testing.T, parent string) string {
			dir, err := file.NewScratch(parent, "tool-")
			if err != nil {
				t.Fatal(err)
			}
			return dir
		}, true},
		{"another host", func(t *testing.T, parent string) string {
			dir := leave(t, parent)
			edit(t, dir, func(o *file.Owner) { o.Host += "x"; o.Boot = "other" })
			return dir
		}, true},
		{"another namespace", func(t *testing.T, parent string) string {
			dir := leave(t, parent)
			edit(t, dir, func(o *file.Owner) { o.Namespace = "pid:[1]" })
			return dir
		}, true},
		{"another user's marker", func(t *testing.T, parent string) string {
			dir := leave(t, parent)
			edit(t, dir, func(o *file.Owner) { o.UID++ })
			return dir
		}, true},
		{"a copy that a user kept", func(t *testing.T, parent string) string {
			dir := leave(t, parent)
			kept := filepath.Join(parent, "tool-kept")
			if err := os.Rename(dir, kept); err != nil {
				t.Fatal(err)
			}
			return kept
		}, true},
		{"a link to a scratch directory", func(t *testing.T, parent string) string {
			dir := leave(t, t.TempDir())
			link := filepath.Join(parent, filepath.Base(dir))
			if err := os.Symlink(dir, link); err != nil {
				t.Fatal(err)
			}
			return link + "/."
		}, true},
		{"a user's directory", func(t *testing.T, parent string) string { return userDirectory(t, parent, nil) }, true},
		{"a user's directory with an empty marker", func(t *testing.T, parent string) string { return userDirectory(t, parent, []byte{}) }, true},
		{"a user's directory with another file of that name", func(t *testing.T, parent string) string {
			return userDirectory(t, parent, []byte("pid 1\n"))
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			parent := t.TempDir()
			dir := c.make(t, parent)
			next, err := file.NewScratch(parent, "tool-")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(dir); (err == nil) != c.stays {
				t.Errorf("there: %v, want %v", err == nil, c.stays)
			}
			if err := file.RemoveScratch(next); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(next); !os.IsNotExist(err) {
				t.Errorf("not removed: %v", err)
			}
		})
	}
}

// userDirectory creates an old directory with a user's results in it.
func userDirectory(t *testing.T, parent string, marked []byte) string {
	t.Helper()
	dir := filepath.Join(parent, "tool-results")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if marked != nil {
		if err := os.WriteFile(filepath.Join(dir, marker), marked, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ago := time.Now().AddDate(-1, 0, 0)
	if err := os.Chtimes(dir, ago, ago); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestNewScratchAtOnce checks that processes that start at once never remove each
// other's directories.
func TestNewScratchAtOnce(t *testing.T) {
	parent := t.TempDir()
	var all sync.WaitGroup
	dirs := make([]string, 16)
	for i := range dirs {
		all.Go(func() {
			dir, err := file.NewScratch(parent, "tool-")
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "device"), nil, 0o600)
			}
			if err != nil {
				t.Error(err)
			}
			dirs[i] = dir
		})
	}
	all.Wait()
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "device")); err != nil {
			t.Error(err)
		}
		if err := file.RemoveScratch(dir); err != nil {
			t.Error(err)
		}
	}
	if _, err := file.NewScratch(filepath.Join(parent, "none"), "tool-"); err == nil {
		t.Error("made a directory in one that does not exist")
	}
}
