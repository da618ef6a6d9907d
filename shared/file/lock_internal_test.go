package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNoLocks covers file systems without locks: Lustre (ENOSYS), NFS (ENOLCK) and
// others.
func TestNoLocks(t *testing.T) {
	defer func() { flock = syscall.Flock }()
	for _, answer := range []error{syscall.ENOSYS, syscall.ENOLCK, syscall.EOPNOTSUPP} {
		flock = func(int, int) error { return answer }
		path := filepath.Join(t.TempDir(), "log.jsonl")
		log, err := OpenLog(path, Lines{})
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(log.Unlocked, ErrNoLocks) || !strings.Contains(log.Unlocked.Error(), path) || !strings.Contains(log.Unlocked.Error(), "flock") {
			t.Errorf("%v: warning %v", answer, log.Unlocked)
		}
		if err := errors.Join(log.Append([]byte("a line")), log.Close()); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "a line\n" {
			t.Errorf("%q, %v", text, err)
		}
	}
	flock = func(int, int) error { return syscall.EACCES }
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if _, err := OpenLog(path, Lines{}); !errors.Is(err, syscall.EACCES) || !strings.Contains(err.Error(), path+": flock: ") {
		t.Errorf("another failure: %v", err)
	}
}

func TestLockedLogHasNoWarning(t *testing.T) {
	log, err := OpenLog(filepath.Join(t.TempDir(), "log.jsonl"), Lines{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if log.Unlocked != nil {
		t.Error(log.Unlocked)
	}
	if _, err := OpenLog(log.file.Name(), Lines{}); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), log.file.Name()) {
		t.Errorf("a second time: %v", err)
	}
}
