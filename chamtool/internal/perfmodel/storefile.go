package perfmodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"slices"
)

// The file of a store: magic, with the version; the number of entries and the entries in
// alphabetical order, as package encoding/gob writes them; the SHA-256 of all before.
const (
	magic        = "chamtool runs "
	storeVersion = "6\n"
)

// storedEntry is an entry in a file: its runs by column, which is a tenth of the time
// of writing and reading them one by one.
type storedEntry struct {
	Name      string
	Last      int64
	Sizes     [][]int64 // that differ
	SizeIndex []uint32  // of each run, its place in them
	Seconds   []float64
}

func newStoredEntry(name string, last int64, runs []StoredRun) storedEntry {
	s, known := storedEntry{Name: name, Last: last}, map[uint64]uint32{}
	for _, run := range runs {
		of, ok := known[hash(run.Sizes)]
		if !ok {
			of = uint32(len(s.Sizes))
			known[hash(run.Sizes)] = of
			s.Sizes = append(s.Sizes, run.Sizes)
		}
		s.SizeIndex = append(s.SizeIndex, of)
		s.Seconds = append(s.Seconds, run.Seconds)
	}
	return s
}

// runs returns the runs of columns that fit together.
func (s *storedEntry) runs() []StoredRun {
	runs := make([]StoredRun, len(s.SizeIndex))
	for i, of := range s.SizeIndex {
		runs[i] = StoredRun{s.Sizes[of], s.Seconds[i]}
	}
	return runs
}

// isConsistent reports whether the columns fit together.
func (s *storedEntry) isConsistent() bool {
	return len(s.SizeIndex) == len(s.Seconds) && !slices.ContainsFunc(s.SizeIndex, func(of uint32) bool { return int(of) >= len(s.Sizes) })
}

// encode returns the file.
func (s *Store) encode() ([]byte, error) {
	b := bytes.NewBufferString(magic + storeVersion)
	enc := gob.NewEncoder(b)
	if err := enc.Encode(s.Len()); err != nil {
		return nil, err
	}
	for _, name := range s.Names() {
		if err := enc.Encode(s.entries[name]); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(b.Bytes())
	return append(b.Bytes(), sum[:]...), nil
}

// parseStore reads a file. The error matches [ErrStore].
func parseStore(data []byte) (*Store, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("%w: not a model file of chamtool", ErrStore)
	}
	if !bytes.HasPrefix(rest, []byte(storeVersion)) {
		return nil, fmt.Errorf("%w: want version %.1s", ErrStore, storeVersion)
	}
	end := len(data) - sha256.Size
	if end < len(magic+storeVersion) {
		return nil, fmt.Errorf("%w: it is truncated", ErrStore)
	}
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrStore)
	}
	dec := gob.NewDecoder(bytes.NewReader(data[len(magic+storeVersion):end]))
	count := 0
	if err := dec.Decode(&count); err != nil {
		return nil, fmt.Errorf("%w: inconsistent parts: %w", ErrStore, err)
	}
	s := &Store{entries: map[string]storedEntry{}}
	for range count {
		var e storedEntry
		if err := dec.Decode(&e); err != nil {
			return nil, fmt.Errorf("%w: inconsistent parts: %w", ErrStore, err)
		}
		if !e.isConsistent() {
			return nil, fmt.Errorf("%w: inconsistent columns of %q", ErrStore, e.Name)
		}
		s.entries[e.Name] = e
	}
	return s, nil
}
