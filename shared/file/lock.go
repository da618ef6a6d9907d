package file

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrNoLocks is returned for a file whose file system has no locks, such as Lustre
// mounted without them, or NFS without its lock daemon. Work can continue, but two
// programs that write the file at once do not notice each other: callers warn.
var ErrNoLocks = errors.New("its file system has no locks, so a second program that writes it is not noticed")

// flock is flock(2); tests replace it.
var flock = syscall.Flock

// TryLock takes the lock of an open file, which ends when the file is closed. The
// error names the file and wraps [ErrInUse] while another process has the lock, or
// [ErrNoLocks].
func TryLock(f *os.File) error {
	for {
		err := flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch err {
		case nil:
			return nil
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return fmt.Errorf("%s: %w", f.Name(), ErrInUse)
		case syscall.ENOSYS, syscall.ENOLCK, syscall.EOPNOTSUPP:
			return fmt.Errorf("%s: %w (flock: %w)", f.Name(), ErrNoLocks, err)
		default:
			return fmt.Errorf("%s: flock: %w", f.Name(), err)
		}
	}
}

// Lock does what TryLock does, and waits for at most the limit for another process.
func Lock(f *os.File, limit time.Duration) error {
	for end := time.Now().Add(limit); ; {
		if err := TryLock(f); !errors.Is(err, ErrInUse) || time.Now().After(end) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
