package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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

// TestLockWaits takes a lock that another process has a hundred times, which is longer than the
// wait of a log, and stops at a limit.
func TestLockWaits(t *testing.T) {
	defer func() { flock = syscall.Flock }()
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tries := 0
	flock = func(int, int) error {
		tries++
		if tries <= 100 {
			return syscall.EWOULDBLOCK
		}
		return nil
	}
	if err := Lock(f, time.Hour); err != nil || tries != 101 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	tries = 0
	if err := Lock(f, 0); !errors.Is(err, ErrInUse) {
		t.Errorf("without a wait, after %d tries: %v", tries, err)
	}
}
