package perfmodel

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"io"
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
			known[hash(run.Sizes)], s.Sizes = of, append(s.Sizes, run.Sizes)
		}
		s.SizeIndex, s.Seconds = append(s.SizeIndex, of), append(s.Seconds, run.Seconds)
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

// consistent reports whether the columns fit together.
func (s *storedEntry) consistent() bool {
	return len(s.SizeIndex) == len(s.Seconds) && !slices.ContainsFunc(s.SizeIndex, func(of uint32) bool { return int(of) >= len(s.Sizes) })
}

// write writes the file, entry by entry, which needs little memory.
func (s *Store) write(w io.Writer) error {
	sum := sha256.New()
	both := io.MultiWriter(w, sum)
	if _, err := io.WriteString(both, magic+storeVersion); err != nil {
		return err
	}
	enc := gob.NewEncoder(both)
	if err := enc.Encode(s.Len()); err != nil {
		return err
	}
	for _, name := range s.Names() {
		e, ok := s.columns[name]
		if !ok {
			e = newStoredEntry(name, s.Last[name], s.Entries[name])
		}
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}

// readStore reads a file of some bytes: its checksum first, then the entries one by one.
func readStore(r io.ReadSeeker, size int64) (*Store, error) {
	head := make([]byte, min(size, int64(len(magic+storeVersion))))
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	version, ok := bytes.CutPrefix(head, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("%w: not a model file of chamtool", ErrStore)
	}
	if string(version) != storeVersion {
		return nil, fmt.Errorf("%w: want version %.1s", ErrStore, storeVersion)
	}
	from, to := int64(len(head)), size-sha256.Size
	if to < from {
		return nil, fmt.Errorf("%w: it is truncated", ErrStore)
	}
	sum, want := sha256.New(), make([]byte, sha256.Size)
	sum.Write(head)
	if _, err := io.CopyN(sum, r, to-from); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, want); err != nil {
		return nil, err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrStore)
	}
	if _, err := r.Seek(from, io.SeekStart); err != nil {
		return nil, err
	}
	return decodeStore(bufio.NewReader(io.LimitReader(r, to-from)))
}

func decodeStore(r io.Reader) (*Store, error) {
	dec, count := gob.NewDecoder(r), 0
	if err := dec.Decode(&count); err != nil {
		return nil, fmt.Errorf("%w: inconsistent parts: %w", ErrStore, err)
	}
	s := &Store{Entries: map[string][]StoredRun{}, columns: map[string]storedEntry{}, Last: map[string]int64{}}
	for range count {
		var e storedEntry
		if err := dec.Decode(&e); err != nil {
			return nil, fmt.Errorf("%w: inconsistent parts: %w", ErrStore, err)
		}
		if !e.consistent() {
			return nil, fmt.Errorf("%w: inconsistent columns of %q", ErrStore, e.Name)
		}
		s.columns[e.Name], s.Last[e.Name] = e, e.Last
	}
	return s, nil
}
