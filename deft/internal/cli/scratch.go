package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/deft/daemon"
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
		if lock, err := daemon.Lock(path, os.O_RDONLY); err == nil {
			(&scratch{path, lock}).Remove()
		}
	}
	for range 100 {
		path, err := os.MkdirTemp(parent, scratchPattern)
		if err != nil {
			return nil, err
		}
		if lock, err := daemon.Lock(path, os.O_RDONLY); err == nil {
			return &scratch{path, lock}, nil
		}
		// another run, just starting, took it for abandoned
	}
	return nil, fmt.Errorf("no folder of our own in %s: other runs remove it", parent)
}

// Remove ends the use of the folder.
func (s *scratch) Remove() {
	os.RemoveAll(s.path) // what cannot be removed, another user's, stays
	s.lock.Close()
}
