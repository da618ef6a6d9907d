package session

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// fields lists the Go fields of a struct with the name that the C struct gives
// them: priorityNs is priority_ns.
func fields(t reflect.Type) map[string]uintptr {
	offsets := map[string]uintptr{}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue
		}
		var name strings.Builder
		for _, r := range f.Name {
			if r >= 'A' && r <= 'Z' {
				name.WriteByte('_')
				r += 'a' - 'A'
			}
			name.WriteRune(r)
		}
		if c := f.Tag.Get("c"); c != "" {
			name.Reset()
			name.WriteString(c)
		}
		offsets[strings.TrimPrefix(name.String(), "_")] = f.Offset
	}
	return offsets
}

// The offsets and sizes of the C structs, as a C compiler sees them, are those
// of the Go structs, and the constants are the same.
func TestLayoutIsThatOfTheHeader(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs cc: install with apt-get install gcc")
	}
	var program strings.Builder
	program.WriteString("#include <stddef.h>\n#include <stdio.h>\n#include \"session.h\"\nint main(void) {\n")
	var want strings.Builder
	for _, s := range []struct {
		c  string
		of reflect.Type
	}{{"deft_header", reflect.TypeFor[header]()}, {"deft_slot", reflect.TypeFor[Words]()}, {"deft_session", reflect.TypeFor[region]()}} {
		offsets := fields(s.of)
		for i := range s.of.NumField() { // in order
			for name, offset := range offsets {
				if s.of.Field(i).Offset == offset && s.of.Field(i).Name != "_" {
					fmt.Fprintf(&program, "printf(\"%s.%s %%zu %%zu\\n\", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));\n", s.c, name, s.c, name, s.c, name)
					fmt.Fprintf(&want, "%s.%s %d %d\n", s.c, name, offset, s.of.Field(i).Type.Size())
				}
			}
		}
		fmt.Fprintf(&program, "printf(\"%s %%zu\\n\", sizeof(struct %s));\n", s.c, s.c)
		fmt.Fprintf(&want, "%s %d\n", s.c, s.of.Size())
	}
	for _, c := range []struct {
		name  string
		value uint64
	}{
		{"DEFT_MAGIC", Magic},
		{"DEFT_VERSION", Version},
		{"DEFT_SLOTS", Slots},
		{"DEFT_NAME", nameSize},
		{"DEFT_HAS_LEFT", leftBit},
		{"DEFT_OWNER_NONE", uint64(ownerNone)},
		{"DEFT_OWNER_ACTIVE", uint64(ownerActive)},
		{"DEFT_OWNER_GONE", uint64(ownerGone)},
		{"DEFT_GATE_OPEN", uint64(gateOpen)},
		{"DEFT_GATE_CLOSED", uint64(gateClosed)},
		{"DEFT_GATE_WATCHED", uint64(gateWatched)},
		{"DEFT_FREE", uint64(Free)},
		{"DEFT_CLAIMED", uint64(Claimed)},
		{"DEFT_IDLE", uint64(Idle)},
		{"DEFT_ACTIVE", uint64(Active)},
		{"DEFT_LEFT", uint64(Left)},
		{"DEFT_PATH_DLSYM", uint64(PathDlsym)},
		{"DEFT_PATH_GETPROC", uint64(PathGetProc)},
		{"DEFT_PATH_GETPROC_V2", uint64(PathGetProcV2)},
		{"DEFT_PATH_PER_THREAD", uint64(PathPerThread)},
		{"DEFT_PATH_LINKED", uint64(PathLinked)},
		{"DEFT_PATH_SHIM", uint64(PathShim)},
		{"DEFT_PATH_DLOPEN", uint64(PathDlopen)},
		{"DEFT_PATH_DEEPBIND", uint64(PathDeepbind)},
		{"DEFT_PATH_STRIPPED", uint64(PathStripped)},
		{"DEFT_PATH_EXPORT_TABLE", uint64(PathExportTable)},
		{"DEFT_PATH_LOADED", uint64(PathLoaded)},
	} {
		fmt.Fprintf(&program, "printf(\"%s %%llu\\n\", (unsigned long long)%s);\n", c.name, c.name)
		fmt.Fprintf(&want, "%s %d\n", c.name, c.value)
	}
	program.WriteString("return 0;\n}\n")

	dir := t.TempDir()
	source, binary := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if err := os.WriteFile(source, []byte(program.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-Wall", "-Werror", "-I../../hook/src", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(got, []byte("\n")) {
		lines := strings.Split(want.String(), "\n")
		if i >= len(lines) || string(line) != lines[i] {
			t.Errorf("C says %q, Go says %q", line, lines[min(i, len(lines)-1)])
		}
	}
	if n := strings.Count(want.String(), "\n"); n < 80 {
		t.Errorf("only %d values compared", n)
	}
}

// A cache line holds the words of one writer.
func TestLinesHaveOneWriter(t *testing.T) {
	var s Words
	if offset := unsafe.Offsetof(s.Gate); offset%64 != 0 || offset+64 != slotSize {
		t.Errorf("the directives begin at %d", offset)
	}
	if offset := unsafe.Offsetof(s.Launches); offset != 64 {
		t.Errorf("launches at %d", offset)
	}
}
