package runtime

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// unclaimed is how long after its making a scratch folder may have no owner's lock.
const unclaimed = time.Minute

// Scratch makes a folder among the system's temporary ones, and removes those that
// programs left there which were killed; remove takes it away. The folder belongs to
// whoever has its lock (flock(2)), which ends with the process.
func Scratch() (dir string, remove func() error, err error) {
	old, err := filepath.Glob(filepath.Join(os.TempDir(), "edgeprof-*"))
	if err != nil {
		return "", nil, err
	}
	for _, dir := range old {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > unclaimed {
			if own, err := claim(dir); err == nil {
				_ = os.RemoveAll(dir) // another user's stays
				own.Close()
			}
		}
	}
	if dir, err = os.MkdirTemp("", "edgeprof-"); err != nil {
		return "", nil, err
	}
	own, err := claim(dir)
	if err != nil {
		return "", nil, err
	}
	return dir, func() error {
		defer own.Close()
		return os.RemoveAll(dir)
	}, nil
}

// claim takes the lock of a folder, which no child process keeps.
func claim(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
