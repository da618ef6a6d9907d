package perfmodel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/foretime/foretime/shared/file"
)

// SharedStore is a host's file to which all its processes add. No process waits: it leaves what
// it learned in a file of its own next to the store, and the process with the lock merges all
// such files, including those that appear while it works.
type SharedStore struct {
	Path string
	Now  func() time.Time
}

// privateInfix separates, in the name of such a file, the store's name from the process's.
const privateInfix = ".private."

// Add hands over what a process learned, and takes in what lies there unless another
// process is at it. What was kept before since is dropped; the zero time drops
// nothing.
func (f SharedStore) Add(learned *Store, since time.Time) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	if err := learned.Write(f.privatePath()); err != nil {
		return err
	}
	for {
		lock, err := f.lock()
		if lock == nil || err != nil {
			return err // who has the lock looks once more when he has given it back
		}
		err = f.merge(since)
		if err := errors.Join(err, lock.Close()); err != nil { // which unlocks
			return err
		}
		if len(f.pending()) == 0 {
			return nil
		}
	}
}

// privatePath returns a name for what this process hands over, which nobody writes to again.
func (f SharedStore) privatePath() string {
	for n := 0; ; n++ {
		path := fmt.Sprintf("%s%s%d-%d", f.Path, privateInfix, os.Getpid(), n)
		if _, err := os.Lstat(path); err != nil {
			return path
		}
	}
}

// pending returns the files that were handed over.
func (f SharedStore) pending() []string {
	all, _ := filepath.Glob(f.Path + privateInfix + "*") // the pattern is well formed
	return slices.DeleteFunc(all, func(path string) bool {
		return strings.ContainsFunc(strings.TrimPrefix(path, f.Path+privateInfix), func(c rune) bool { return c != '-' && !unicode.IsDigit(c) }) // one that is being written
	})
}

// lock takes the lock; nil if another process has it. A file system without locks is
// no reason to lose what was learned: two processes that merge at once then may.
func (f SharedStore) lock() (*os.File, error) {
	lock, err := os.OpenFile(f.Path+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	switch err := file.TryLock(lock); {
	case err == nil || errors.Is(err, file.ErrNoLocks):
		return lock, nil
	case errors.Is(err, file.ErrInUse):
		return nil, lock.Close()
	default:
		return nil, errors.Join(err, lock.Close())
	}
}

// merge adds the pending files to the store. The caller has the lock.
func (f SharedStore) merge(since time.Time) error {
	store, err := ReadStore(f.Path)
	if errors.Is(err, ErrStore) {
		err = os.Rename(f.Path, f.Path+".bad")
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if store == nil {
		store = &Store{}
	}
	store.Forget(since)
	var merged []string
	for _, path := range f.pending() {
		if one, err := ReadStore(path); err == nil { // a file of another kind is not ours to remove
			one.Forget(since)
			store.Merge(one)
			merged = append(merged, path)
		}
	}
	store.Prune(f.Now())
	if err := store.Write(f.Path); err != nil {
		return err
	}
	for _, path := range merged {
		_ = os.Remove(path) // what is taken in twice is only older
	}
	return nil
}
