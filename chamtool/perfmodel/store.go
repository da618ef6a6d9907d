package perfmodel

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/foretime/foretime/shared/file"
)

// Store is what is kept of a host's runs from one program run to the next: the
// runs themselves, the last few thousand learned of each function, so that a
// later version may learn from them what this one did not.
type Store struct {
	Entries map[string][]Kept // oldest first
}

// Kept is one run. Runs of equal sizes may share them.
type Kept struct {
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
	return file.Write(path, func(w io.Writer) error {
		_, err := w.Write(s.encode())
		return err
	})
}

// Merge adds later runs and drops the oldest beyond the window.
func (s *Store) Merge(later *Store) {
	if s.Entries == nil {
		s.Entries = map[string][]Kept{}
	}
	for name, runs := range later.Entries {
		all := append(slices.Clone(s.Entries[name]), runs...)
		s.Entries[name] = all[max(0, len(all)-window):]
	}
}

// Names are the entries' names in alphabetical order.
func (s *Store) Names() []string {
	names := make([]string, 0, len(s.Entries))
	for name := range s.Entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Teach lets the model learn from kept runs. They count as learned, not as new:
// [Model.Learned] leaves them out.
func (m *Model) Teach(s *Store) {
	for _, name := range s.Names() {
		e := m.Entry(name)
		for _, run := range s.Entries[name] {
			e.Observe(e.Footprint(run.Sizes), run.Seconds)
		}
		if e.learned >= m.options.FirstFit {
			e.Fit()
		}
		e.taught = e.learned
	}
}

// Learned is what the model learned from runs of its own, as far as the window
// holds them.
func (m *Model) Learned() *Store {
	s := &Store{Entries: map[string][]Kept{}}
	for _, name := range m.names {
		e := m.entries[name]
		var own []sample
		for _, one := range e.samples {
			if one.order > uint64(e.taught) {
				own = append(own, one)
			}
		}
		if len(own) == 0 {
			continue
		}
		slices.SortFunc(own, func(a, b sample) int { return cmp.Compare(a.order, b.order) })
		runs := make([]Kept, len(own))
		for i, one := range own {
			runs[i] = Kept{one.f.Sizes, math.Exp(one.y)}
		}
		s.Entries[name] = runs
	}
	return s
}
