package perfmodel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrBusy is returned where another process held the lock all the time. What
// was to be kept is in a file of its own.
var ErrBusy = errors.New("locked by another process")

// SharedStore is the file of a host.
type SharedStore struct {
	Path  string
	Wait  time.Duration // most that is waited for other processes of the host
	Now   func() time.Time
	Sleep func(time.Duration)
}

const (
	// look is how often it looks whether it is its turn.
	look = 20 * time.Millisecond
	// private is what stands between the name of the file and that of a process
	// which did not get its turn.
	private = ".private."
)

// Read is what is kept. The error is [ReadStore]'s.
func (f SharedStore) Read() (*Store, error) { return ReadStore(f.Path) }

// Add merges what a process learned into the file. What was kept before since
// is dropped; the zero time drops nothing.
func (f SharedStore) Add(learned *Store, since time.Time) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	lock, err := f.lock()
	if errors.Is(err, ErrBusy) {
		own := fmt.Sprintf("%s%s%d", f.Path, private, os.Getpid())
		return errors.Join(fmt.Errorf("%w; they are in %s", err, own), addTo(own, learned))
	}
	if err != nil {
		return err
	}
	defer lock.Close() // which unlocks
	return f.merge(learned, since)
}

// addTo adds to a file that no other process writes.
func addTo(path string, learned *Store) error {
	store, err := ReadStore(path)
	if err != nil {
		store = &Store{}
	}
	store.Merge(learned)
	return store.Write(path)
}

// lock takes the lock, or gives up after a while.
func (f SharedStore) lock() (*os.File, error) {
	lock, err := os.OpenFile(f.Path+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for end := f.Now().Add(f.Wait); ; f.Sleep(look) {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return lock, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return nil, errors.Join(fmt.Errorf("%s: %w", lock.Name(), err), lock.Close())
		case f.Now().After(end):
			return nil, errors.Join(fmt.Errorf("%s: %w", lock.Name(), ErrBusy), lock.Close())
		}
	}
}

// merge is done under the lock.
func (f SharedStore) merge(learned *Store, since time.Time) error {
	store, err := f.Read()
	if errors.Is(err, ErrStore) {
		err = os.Rename(f.Path, f.Path+".bad")
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if store == nil {
		store = &Store{}
	}
	left, _ := filepath.Glob(f.Path + private + "*") // the pattern is well formed
	for _, path := range left {
		if one, err := ReadStore(path); err == nil {
			store.Merge(one)
		}
	}
	store.Forget(since)
	store.Merge(learned)
	store.Prune(f.Now())
	if err := store.Write(f.Path); err != nil {
		return err
	}
	for _, path := range left {
		_ = os.Remove(path) // what is taken in twice is only older
	}
	return nil
}
