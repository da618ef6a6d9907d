package perfmodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
)

// The file of a store: magic, with the version; the entries in alphabetical order,
// as package encoding/gob writes them; the SHA-256 of all before.
const (
	magic        = "chamtool runs "
	storeVersion = "5\n"
)

// storedEntry is an entry in a file: its runs by column, which is a tenth of the time
// of writing and reading them one by one.
type storedEntry struct {
	Name    string
	Last    int64
	Sizes   [][]int64 // that differ
	Of      []uint32  // of each run, its place in them
	Seconds []float64
}

func stored(name string, last int64, runs []Kept) storedEntry {
	s, known := storedEntry{Name: name, Last: last}, map[uint64]uint32{}
	for _, run := range runs {
		of, ok := known[hash(run.Sizes)]
		if !ok {
			of = uint32(len(s.Sizes))
			known[hash(run.Sizes)], s.Sizes = of, append(s.Sizes, run.Sizes)
		}
		s.Of, s.Seconds = append(s.Of, of), append(s.Seconds, run.Seconds)
	}
	return s
}

// runs is the inverse of stored; ok is false where the columns do not fit together.
func (s *storedEntry) runs() (runs []Kept, ok bool) {
	if len(s.Of) != len(s.Seconds) {
		return nil, false
	}
	for i, of := range s.Of {
		if int(of) >= len(s.Sizes) {
			return nil, false
		}
		runs = append(runs, Kept{s.Sizes[of], s.Seconds[i]})
	}
	return runs, true
}

func (s *Store) encode() ([]byte, error) {
	entries := make([]storedEntry, 0, len(s.Entries))
	for _, name := range s.Names() {
		entries = append(entries, stored(name, s.Last[name], s.Entries[name]))
	}
	b := bytes.NewBufferString(magic + storeVersion)
	if err := gob.NewEncoder(b).Encode(entries); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b.Bytes())
	return append(b.Bytes(), sum[:]...), nil
}

func parseStore(data []byte) (*Store, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("%w: not a model file of chamtool", ErrStore)
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(storeVersion)); !ok {
		return nil, fmt.Errorf("%w: want version %.1s", ErrStore, storeVersion)
	}
	if len(rest) < sha256.Size {
		return nil, fmt.Errorf("%w: it is truncated", ErrStore)
	}
	body := data[:len(data)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], data[len(body):]) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrStore)
	}
	var entries []storedEntry
	if err := gob.NewDecoder(bytes.NewReader(rest[:len(rest)-sha256.Size])).Decode(&entries); err != nil {
		return nil, fmt.Errorf("%w: inconsistent parts: %w", ErrStore, err)
	}
	s := &Store{Entries: map[string][]Kept{}, Last: map[string]int64{}}
	for _, e := range entries {
		runs, ok := e.runs()
		if !ok {
			return nil, fmt.Errorf("%w: inconsistent columns of %q", ErrStore, e.Name)
		}
		s.Entries[e.Name], s.Last[e.Name] = runs, e.Last
	}
	return s, nil
}
