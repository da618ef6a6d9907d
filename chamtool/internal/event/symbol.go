package event

import (
	"bytes"
	"crypto/sha256"
	"debug/dwarf"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// Symbols holds the functions of a program or library. One goroutine may use it at a time.
type Symbols struct {
	// Build identifies the build, in at most 16 hexadecimal digits.
	Build string

	path         string
	base         uint64          // linked address of its first segment
	names        map[uint64]code // functions, by linked address
	starts       []uint64        // those addresses in ascending order
	debug        *dwarf.Data     // nil if the file has none
	declarations []declaration   // in debug; nil before the first use
}

// code is a symbol of a function.
type code struct {
	name string
	size uint64 // bytes
}

// digits is the number of digits that are kept of a build id, far more than builds need to
// differ.
const digits = 16

// ReadSymbols reads a file in ELF.
func ReadSymbols(path string) (*Symbols, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &Symbols{path: path, base: base(f), names: map[uint64]code{}}
	if out.Build, err = build(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, _ := read() // a stripped file has none
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 && s.Section != elf.SHN_UNDEF {
				out.names[s.Value] = code{demangleName(s.Name), s.Size}
			}
		}
	}
	out.starts = slices.Sorted(maps.Keys(out.names))
	out.debug, _ = f.DWARF() // nil if the file contains none
	return out, nil
}

// Function returns the name of the function that begins at an offset from where the
// file is loaded; "" if none does.
func (f *Symbols) Function(offset uint64) string { return f.names[f.base+offset].name }

func base(f *elf.File) uint64 {
	const page = 4096
	least := uint64(math.MaxUint64)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			least = min(least, p.Vaddr&^(page-1))
		}
	}
	return least
}

func build(f *elf.File) (string, error) {
	if s := f.Section(".note.gnu.build-id"); s != nil {
		if note, err := s.Data(); err == nil {
			if _, id, ok := bytes.Cut(note, []byte("GNU\x00")); ok && len(id) > 0 {
				return hex.EncodeToString(id[:min(len(id), digits/2)]), nil
			}
		}
	}
	text := f.Section(".text")
	if text == nil {
		return "", errors.New("the file has neither a build id nor code")
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, text.Open()); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:digits/2]), nil
}
