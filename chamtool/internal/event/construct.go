package event

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Construct names the line of the program at the return address of a call, given as the offset
// from where the file is loaded: ":function (file.c:57)" if the file has lines,
// ":function+0x1f" if it has symbols, else "+0x1234". The function is the one in the source,
// not one that a compiler made of a part of it. A function that makes the call last leaves the
// return address of its own caller: then it is ":function (called at file.c:57)".
func (f *Symbols) Construct(offset uint64) string {
	address := f.base + offset
	if name := f.calledFunction(address); name != "" {
		if file, line := f.line(address - 1); line > 0 {
			name = fmt.Sprintf("%s (called at %s:%d)", name, filepath.Base(file), line)
		}
		return ":" + name
	}
	if name := f.sourceName(address - 1); name != "" {
		return name
	}
	i, _ := slices.BinarySearch(f.starts, address) // one after the last that begins before it
	if i == 0 || address > f.starts[i-1]+f.names[f.starts[i-1]].size {
		return fmt.Sprintf("+%#x", offset)
	}
	return fmt.Sprintf(":%s+%#x", f.names[f.starts[i-1]].name, address-f.starts[i-1])
}

// IsTaskBody reports whether the function at an offset is one that gcc made of a construct.
func (f *Symbols) IsTaskBody(offset uint64) bool {
	return strings.Contains(f.Function(offset), "._omp_fn.")
}

// TaskBody names the construct of a task body in the form of [Symbols.Construct], by the line
// of the construct.
func (f *Symbols) TaskBody(offset uint64) string {
	return cmp.Or(f.sourceName(f.base+offset), ":"+f.Function(offset))
}

// runtimePrefixes begin the names of functions of OpenMP and MPI, which a program may contain.
var runtimePrefixes = []string{"__kmp", "GOMP_", "omp_", "MPI_", "PMPI_", "mpi_", "pmpi_"}

// calledFunction returns the function of the file that the call before a return address enters,
// "" if it enters another file or a runtime.
func (f *Symbols) calledFunction(address uint64) string {
	file, err := elf.Open(f.path)
	if err != nil {
		return ""
	}
	defer file.Close()
	var call [5]byte
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr+uint64(len(call)) <= address && address <= p.Vaddr+p.Filesz {
			_, _ = p.ReadAt(call[:], int64(address-p.Vaddr)-int64(len(call))) // without it the bytes are 0, which is no call
		}
	}
	target := uint64(0)
	word := binary.LittleEndian.Uint32(call[1:])
	switch {
	case file.Machine == elf.EM_X86_64 && call[0] == 0xe8: // call, relative to the next instruction
		target = address + uint64(int64(int32(word)))
	case file.Machine == elf.EM_AARCH64 && word>>26 == 0x25: // bl, in words relative to itself
		target = address - 4 + uint64(int64(int32(word<<6)>>4))
	}
	name := f.names[target].name
	if slices.ContainsFunc(runtimePrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return ""
	}
	return name
}

// sourceName returns the name of the code at a linked address by its source line, "" if the file
// has none.
func (f *Symbols) sourceName(address uint64) string {
	file, line := f.line(address)
	if line == 0 {
		return ""
	}
	place := fmt.Sprintf("%s:%d", filepath.Base(file), line)
	if name := f.enclosing(file, line); name != "" {
		return fmt.Sprintf(":%s (%s)", name, place)
	}
	return ":" + place
}

// line returns the source line of the code at a linked address, from DWARF; 0 if the file does
// not contain it.
func (f *Symbols) line(address uint64) (file string, line int) {
	if f.debug == nil {
		return "", 0
	}
	unit, err := f.debug.Reader().SeekPC(address)
	if err != nil {
		return "", 0
	}
	lines, err := f.debug.LineReader(unit)
	if err != nil || lines == nil {
		return "", 0
	}
	at := f.entry(lines, address)
	if at.File == nil {
		return "", 0
	}
	return at.File.Name, at.Line
}

// entry returns the entry of an address in a unit's table of lines, whose sequences are in any
// order. A compiler that joins calls of several lines gives the result line 0: then the last
// entry with a line before it in its function counts.
func (f *Symbols) entry(lines *dwarf.LineReader, address uint64) (found dwarf.LineEntry) {
	i, begins := slices.BinarySearch(f.starts, address)
	from := uint64(0)
	if begins {
		i++
	}
	if i > 0 {
		from = f.starts[i-1]
	}
	var at dwarf.LineEntry
	last := uint64(math.MaxUint64)
	for lines.Next(&at) == nil {
		if last <= address && address < at.Address {
			return found
		}
		last = at.Address
		switch {
		case at.EndSequence:
			last, found = math.MaxUint64, dwarf.LineEntry{}
		case at.Line > 0 && at.Address >= from:
			found = at
		}
	}
	return dwarf.LineEntry{}
}

// declaration is the place of a function in the source.
type declaration struct {
	name, file string
	line       int
}

// enclosing returns the name of the last function of a file that is declared at or before a
// line.
func (f *Symbols) enclosing(file string, line int) string {
	if f.declarations == nil {
		f.declarations = declarations(f.debug)
	}
	best := declaration{}
	for _, d := range f.declarations {
		if d.file == file && d.line <= line && d.line > best.line {
			best = d
		}
	}
	return best.name
}

// fortranLanguages are DWARF's codes of Fortran 77, 90, 95, 2003 and 2008.
var fortranLanguages = []int64{0x07, 0x08, 0x0e, 0x22, 0x23}

// declarations returns the functions in DWARF, without those that compilers add.
func declarations(d *dwarf.Data) []declaration {
	out := []declaration{}
	var files []*dwarf.LineFile
	isFortran := false
	for r := d.Reader(); ; {
		e, err := r.Next()
		if e == nil || err != nil {
			return out
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			files = nil
			language, _ := e.Val(dwarf.AttrLanguage).(int64)
			isFortran = slices.Contains(fortranLanguages, language)
			if lines, err := d.LineReader(e); err == nil && lines != nil {
				files = lines.Files()
			}
		case dwarf.TagSubprogram:
			name, _ := e.Val(dwarf.AttrName).(string)
			file, _ := e.Val(dwarf.AttrDeclFile).(int64)
			line, _ := e.Val(dwarf.AttrDeclLine).(int64)
			called, _ := e.Val(dwarf.AttrDeclaration).(bool) // where it is called, in Fortran
			generated := isFortran && called || strings.HasPrefix(name, ".") || strings.Contains(name, ".omp_outlined") || strings.Contains(name, "._omp_fn")
			if name != "" && !generated && line > 0 && file >= 0 && int(file) < len(files) && files[file] != nil {
				out = append(out, declaration{name, files[file].Name, int(line)})
			}
		}
	}
}

// demangleName returns a symbol's name in the source, without the parameters of C++.
func demangleName(symbol string) string { return demangle.Filter(symbol, demangle.NoParams) }
