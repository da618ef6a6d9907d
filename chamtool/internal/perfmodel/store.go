package perfmodel

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/file"
)

// Store holds a host's runs between two program runs: the runs themselves, the last few
// thousand of each function, which lets a later version learn more from them than this one did.
type Store struct {
	// Entries holds runs by key, see [Key], the oldest first. Those of a file stay in columns
	// until they are used: [Store.Runs].
	Entries map[string][]StoredRun
	columns map[string]storedEntry
	// Last holds the time of each entry's last kept run, in seconds since 1970.
	Last map[string]int64
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

// Runs returns the runs of a key.
func (s *Store) Runs(name string) []StoredRun {
	if runs, ok := s.Entries[name]; ok {
		return runs
	}
	e := s.columns[name]
	return e.runs()
}

// Len returns the number of entries.
func (s *Store) Len() int { return len(s.Entries) + len(s.columns) }

// drop removes an entry.
func (s *Store) drop(name string) {
	delete(s.Entries, name)
	delete(s.columns, name)
	delete(s.Last, name)
}

// Merge adds later runs and drops the oldest beyond the window.
func (s *Store) Merge(later *Store) {
	if s.Entries == nil {
		s.Entries = map[string][]StoredRun{}
	}
	if s.Last == nil {
		s.Last = map[string]int64{}
	}
	for _, name := range later.Names() {
		runs := later.Runs(name)
		all := runs
		if !later.Replaces[name] {
			all = slices.Concat(s.Runs(name), runs)
		}
		delete(s.columns, name)
		s.Entries[name] = all[max(0, len(all)-window):]
		s.Last[name] = max(s.Last[name], later.Last[name])
	}
}

// Forget drops the entries that were last kept before a time.
func (s *Store) Forget(before time.Time) {
	for _, name := range s.Names() {
		if s.Last[name] < before.Unix() {
			s.drop(name)
		}
	}
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
	builds := map[string][]string{}
	for _, name := range s.Names() {
		if now.Sub(time.Unix(s.Last[name], 0)) > keptFor {
			s.drop(name)
			continue
		}
		function, _ := SplitKey(name)
		builds[function] = append(builds[function], name)
	}
	for _, names := range builds {
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(s.Last[b], s.Last[a]), cmp.Compare(a, b)) })
		for _, name := range names[min(keptBuilds, len(names)):] {
			s.drop(name)
		}
	}
}

// Names returns the entries' names in alphabetical order.
func (s *Store) Names() []string {
	names := slices.AppendSeq(make([]string, 0, s.Len()), maps.Keys(s.Entries))
	names = slices.AppendSeq(names, maps.Keys(s.columns))
	slices.Sort(names)
	return names
}
