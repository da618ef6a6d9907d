package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// scratch is a folder for what the processes of one run share. Its owner holds
// a lock on it, which ends with the owner however that dies.
type scratch struct {
	path string
	lock *os.File
}

// scratchPattern names the folders of all runs.
const scratchPattern = "deft-run-*"

// newScratch makes a folder in parent, and removes those there whose owner was
// killed.
func newScratch(parent string) (*scratch, error) {
	left, err := filepath.Glob(filepath.Join(parent, scratchPattern))
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		if s := own(path); s != nil {
			s.Remove()
		}
	}
	for range 100 {
		path, err := os.MkdirTemp(parent, scratchPattern)
		if err != nil {
			return nil, err
		}
		if s := own(path); s != nil {
			return s, nil
		}
		// another run, just starting, took it for abandoned
	}
	return nil, fmt.Errorf("no folder of our own in %s: other runs remove it", parent)
}

// own locks a folder that nobody owns; nil if that fails, or the folder has gone.
func own(path string) *scratch {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil
	}
	held, err := f.Stat()
	now, err2 := os.Lstat(path)
	if err != nil || err2 != nil || !os.SameFile(held, now) || !held.IsDir() {
		f.Close()
		return nil
	}
	return &scratch{path, f}
}

// Remove ends the use of the folder.
func (s *scratch) Remove() {
	os.RemoveAll(s.path) // what cannot be removed, another user's, stays
	s.lock.Close()
}
