package perfmodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// The file of a store, in little endian and with the variable-length integers
// of package encoding/binary:
//
//	magic, with the version
//	entries: their number; of each the length of its name, the name, the
//	    seconds from 1970 to its last run, the number of its runs
//	runs: the number of the run's footprint, counted from 0 in order of
//	    appearance; where it is new, the number of its sizes and the sizes;
//	    the seconds as 8 bytes
//	SHA-256 of all before
const (
	magic        = "chamtool runs "
	storeVersion = "3\n"
)

func (s *Store) encode() []byte {
	b := append([]byte(nil), magic+storeVersion...)
	b = binary.AppendUvarint(b, uint64(len(s.Entries)))
	var sizes []byte
	for _, name := range s.Names() {
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
		b = binary.AppendUvarint(b, uint64(s.Last[name]))
		b = binary.AppendUvarint(b, uint64(len(s.Entries[name])))
		known := map[string]uint64{}
		for _, run := range s.Entries[name] {
			sizes = binary.AppendUvarint(sizes[:0], uint64(len(run.Sizes)))
			for _, n := range run.Sizes {
				sizes = binary.AppendVarint(sizes, n)
			}
			number, ok := known[string(sizes)]
			if ok {
				b = binary.AppendUvarint(b, number)
			} else {
				b = append(binary.AppendUvarint(b, uint64(len(known))), sizes...)
				known[string(sizes)] = uint64(len(known))
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(run.Seconds))
		}
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
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
	r := storeReader{rest: rest[:len(rest)-sha256.Size]}
	s := &Store{Entries: map[string][]Kept{}, Last: map[string]int64{}}
	for range r.count() {
		name := string(r.take(r.count()))
		s.Last[name] = int64(r.uvarint())
		s.Entries[name] = r.runs()
	}
	if r.torn || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: its parts do not fit together", ErrStore)
	}
	return s, nil
}

// storeReader takes a store's bytes from the front. Once something does not
// fit, torn is set and all it returns is zero.
type storeReader struct {
	rest []byte
	torn bool
}

func (r *storeReader) runs() []Kept {
	runs := make([]Kept, r.count())
	var known [][]int64
	for i := range runs {
		number := r.uvarint()
		if number == uint64(len(known)) {
			known = append(known, r.sizes())
		}
		seconds := r.take(8)
		if r.torn || number >= uint64(len(known)) {
			r.torn = true
			return nil
		}
		runs[i] = Kept{known[number], math.Float64frombits(binary.LittleEndian.Uint64(seconds))}
	}
	return runs
}

func (r *storeReader) sizes() []int64 {
	sizes := make([]int64, r.count())
	for i := range sizes {
		n, used := binary.Varint(r.rest)
		if used <= 0 {
			r.torn = true
			return nil
		}
		sizes[i], r.rest = n, r.rest[used:]
	}
	return sizes
}

// count is a number of things that take at least a byte each.
func (r *storeReader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.torn = true
		return 0
	}
	return int(n)
}

func (r *storeReader) uvarint() uint64 {
	n, used := binary.Uvarint(r.rest)
	if used <= 0 {
		r.torn = true
		return 0
	}
	r.rest = r.rest[used:]
	return n
}

// take returns the next n bytes, nil where there are fewer.
func (r *storeReader) take(n int) []byte {
	if r.torn || n > len(r.rest) {
		r.torn = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}
