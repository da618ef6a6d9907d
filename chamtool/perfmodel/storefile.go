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
	storeVersion = "4\n"
)

// storedEntry is an entry in a file.
type storedEntry struct {
	Name string
	Last int64
	Runs []Kept
}

func (s *Store) encode() ([]byte, error) {
	entries := make([]storedEntry, 0, len(s.Entries))
	for _, name := range s.Names() {
		entries = append(entries, storedEntry{name, s.Last[name], s.Entries[name]})
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
		return nil, fmt.Errorf("%w: not a file of kept runs", ErrStore)
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(storeVersion)); !ok {
		return nil, fmt.Errorf("%w: not of version %.1s", ErrStore, storeVersion)
	}
	if len(rest) < sha256.Size {
		return nil, fmt.Errorf("%w: cut off", ErrStore)
	}
	body := data[:len(data)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], data[len(body):]) {
		return nil, fmt.Errorf("%w: the checksum does not fit", ErrStore)
	}
	var entries []storedEntry
	if err := gob.NewDecoder(bytes.NewReader(rest[:len(rest)-sha256.Size])).Decode(&entries); err != nil {
		return nil, fmt.Errorf("%w: its parts do not fit together: %w", ErrStore, err)
	}
	s := &Store{Entries: map[string][]Kept{}, Last: map[string]int64{}}
	for _, e := range entries {
		s.Entries[e.Name], s.Last[e.Name] = e.Runs, e.Last
	}
	return s, nil
}
