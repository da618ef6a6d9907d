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
	if dir, err = os.MkdirTemp("", "edgeprof-"); err != nil {
		return "", nil, err
	}
	own, err := claim(dir)
	if err != nil {
		return "", nil, err
	}
	if now, err := own.Stat(); err == nil {
		removeLeft(now.ModTime())
	}
	return dir, func() error {
		defer own.Close()
		return os.RemoveAll(dir)
	}, nil
}

// removeLeft removes the folders that nobody has the lock of; another user's stay.
func removeLeft(now time.Time) {
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), "edgeprof-*")) // the pattern is a right one
	for _, dir := range old {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && now.Sub(info.ModTime()) > unclaimed {
			if own, err := claim(dir); err == nil {
				_ = os.RemoveAll(dir)
				own.Close()
			}
		}
	}
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
