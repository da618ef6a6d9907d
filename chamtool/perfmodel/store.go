package perfmodel

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/foretime/foretime/shared/dataset"
)

// storeVersion is the version of the file format.
const storeVersion = 1

// Store is what is kept of a host's runs from one program run to the next: the
// runs themselves, the last few thousand of each function, so that a later
// version may learn from them what this one did not.
type Store struct {
	Entries map[string][]Kept `json:"entries"` // oldest first
}

// Kept is one run.
type Kept struct {
	Sizes   []int64 `json:"n"`
	Seconds float64 `json:"s"`
}

// stored is the file: the checksum is the SHA-256 of the runs' bytes.
type stored struct {
	Version  int             `json:"version"`
	Checksum string          `json:"checksum"`
	Runs     json.RawMessage `json:"runs"`
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

func parseStore(data []byte) (*Store, error) {
	var file stored
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	if file.Version != storeVersion {
		return nil, fmt.Errorf("%w: version %d, want %d", ErrStore, file.Version, storeVersion)
	}
	if checksum(file.Runs) != file.Checksum {
		return nil, fmt.Errorf("%w: the checksum does not fit", ErrStore)
	}
	s := &Store{}
	if err := json.Unmarshal(file.Runs, s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	return s, nil
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Write writes the store durably: a reader sees the old file or the new one.
func (s *Store) Write(path string) error {
	runs, err := json.Marshal(s)
	if err != nil {
		return err
	}
	data, err := json.Marshal(stored{storeVersion, checksum(runs), runs})
	if err != nil {
		return err
	}
	return dataset.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
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
