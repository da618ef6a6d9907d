package perfmodel

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/file"
)

// ErrStore is returned when a file of kept models cannot be used.
var ErrStore = errors.New("unusable model file")

// Store holds a host's runs between two program runs: the runs themselves, the last few
// thousand of each function, which lets a later version learn more from them than this one did.
type Store struct {
	entries map[string]storedEntry // by key, see [Key]
	// Replaces holds the entries whose older runs did not hold any more: Merge drops those of
	// the same key.
	Replaces map[string]bool
}

// Key returns the name of an entry that means one function of one build of a program.
// Without a build it is the function's name.
func Key(function, build string) string {
	if build == "" {
		return function
	}
	return function + keySeparator + build
}

const keySeparator = "\x00"

// SplitKey returns the function and the build of a key.
func SplitKey(key string) (function, build string) {
	function, build, _ = strings.Cut(key, keySeparator)
	return function, build
}

// StoredRun is one run. Runs of equal sizes may share them.
type StoredRun struct {
	Sizes   []int64
	Seconds float64
}

// ReadStore reads a store. The error matches [ErrStore] where the file is torn,
// altered or of another version, and [os.ErrNotExist] where there is none.
func ReadStore(path string) (*Store, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := parseStore(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Write writes the store durably: a reader sees the old file or the new one.
func (s *Store) Write(path string) error {
	data, err := s.encode()
	if err != nil {
		return err
	}
	return file.Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Set keeps runs, the oldest first, as those of a key. Last is the time of the last one, in
// seconds since 1970.
func (s *Store) Set(name string, last int64, runs []StoredRun) {
	if s.entries == nil {
		s.entries = map[string]storedEntry{}
	}
	s.entries[name] = newStoredEntry(name, last, runs)
}

// Runs returns the runs of a key, the oldest first.
func (s *Store) Runs(name string) []StoredRun {
	e := s.entries[name]
	return e.runs()
}

// Len returns the number of entries.
func (s *Store) Len() int { return len(s.entries) }

// Merge adds later runs and drops the oldest beyond the window.
func (s *Store) Merge(later *Store) {
	for name, e := range later.entries {
		all := e.runs()
		if !later.Replaces[name] {
			all = slices.Concat(s.Runs(name), all)
		}
		s.Set(name, max(s.entries[name].Last, e.Last), all[max(0, len(all)-window):])
	}
}

// Forget drops the entries that were last kept before a time.
func (s *Store) Forget(before time.Time) {
	maps.DeleteFunc(s.entries, func(_ string, e storedEntry) bool { return e.Last < before.Unix() })
}

const (
	// keptFor is the time after which runs are dropped that no program run adds to.
	keptFor = 90 * 24 * time.Hour
	// keptBuilds is the number of builds of one function that are kept.
	keptBuilds = 3
)

// Prune drops what no run will ask for: entries that are old, and of each
// function all but the builds that ran last.
func (s *Store) Prune(now time.Time) {
	s.Forget(now.Add(-keptFor))
	builds := map[string][]storedEntry{}
	for name, e := range s.entries {
		function, _ := SplitKey(name)
		builds[function] = append(builds[function], e)
	}
	for _, all := range builds {
		slices.SortFunc(all, func(a, b storedEntry) int { return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.Name, b.Name)) })
		for _, e := range all[min(keptBuilds, len(all)):] {
			delete(s.entries, e.Name)
		}
	}
}

// Names returns the entries' names in alphabetical order.
func (s *Store) Names() []string { return slices.Sorted(maps.Keys(s.entries)) }
