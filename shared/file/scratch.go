package file

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// marker is the file that marks a scratch directory as ours.
const marker = ".foretime-scratch"

// maxMarkerBytes is far more than a marker needs.
const maxMarkerBytes = 4096

// NewScratch creates a directory in parent for this process alone, with a name that
// begins with prefix, and writes a marker file with its [Owner] into it. The caller
// removes it with [RemoveScratch]. NewScratch first removes what killed processes
// of the same user left in parent: directories with such a name and a marker whose
// owner has ended. A directory without a marker, with another user's, or copied
// from another directory is never removed. An empty parent is the system's
// directory for temporary files.
func NewScratch(parent, prefix string) (string, error) {
	parent = cmp.Or(parent, os.TempDir())
	sweep(parent, prefix)
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return "", err
	}
	// Without /proc the owner is incomplete, and no process removes the directory.
	owner, _ := CurrentOwner(filepath.Base(dir))
	if err := WriteJSON(filepath.Join(dir, marker), owner); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

// RemoveScratch removes a directory that [NewScratch] created, the marker last.
// After an interrupted removal the directory is still recognised as scratch.
func RemoveScratch(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != marker {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// sweep removes the scratch directories whose owner has ended. A directory that
// cannot be removed is left for the next process.
func sweep(parent, prefix string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // creating the directory fails too, with an error
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			if dir := filepath.Join(parent, e.Name()); isAbandoned(dir) {
				_ = RemoveScratch(dir)
			}
		}
	}
}

// isAbandoned reports whether a directory, not a link, is a scratch directory of this
// user whose owner has ended.
func isAbandoned(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !ownDirectory(info) {
		return false
	}
	self, err := CurrentOwner("")
	if err != nil {
		return false
	}
	owner, ok := readMarker(filepath.Join(dir, marker))
	return ok && owner.Name == filepath.Base(dir) && owner.Gone(self)
}

func ownDirectory(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(stat.Uid) == os.Getuid()
}

// readMarker reads a marker; it returns false for any other file, a pipe included.
func readMarker(path string) (owner Owner, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return owner, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return owner, false
	}
	b, err := io.ReadAll(io.LimitReader(f, maxMarkerBytes))
	return owner, err == nil && json.Unmarshal(b, &owner) == nil
}
