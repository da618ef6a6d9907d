package event_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/event"
)

const source = `
#include <stdio.h>
static __attribute__((noinline)) int omp_gemm(int n) { return n * FACTOR; }
int (*volatile f)(int) = omp_gemm;
int main(void) { printf("%d\n", f(3)); return 0; }
`

func compile(t *testing.T, name string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc: install with apt-get install gcc")
	}
	dir := t.TempDir()
	src, out := filepath.Join(dir, "main.c"), filepath.Join(dir, name)
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("gcc", append(flags, "-O1", "-o", out, src)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// offset is where a symbol lies behind the file's first segment, as the loader
// tells it.
func offset(t *testing.T, path, name string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	first := uint64(1 << 62)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			first = min(first, p.Vaddr)
		}
	}
	for _, s := range symbols {
		if s.Name == name {
			return s.Value - first
		}
	}
	t.Fatalf("no %s in %s", name, path)
	return 0
}

// A static function is named, in programs that are loaded anywhere and in those
// that are not, and a build with another body has another identity.
func TestRead(t *testing.T) {
	for _, flags := range [][]string{{"-pie", "-fPIE"}, {"-no-pie"}, {"-pie", "-fPIE", "-Wl,--build-id=none"}} {
		one, two := compile(t, "a", append(flags, "-DFACTOR=7")...), compile(t, "a", append(flags, "-DFACTOR=9")...)
		a, err := event.ReadSymbols(one)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Function(offset(t, one, "omp_gemm")); got != "omp_gemm" {
			t.Errorf("%v: %q", flags, got)
		}
		if got := a.Function(offset(t, one, "omp_gemm") + 1); got != "" {
			t.Errorf("%v: an address inside a function is %q", flags, got)
		}
		b, err := event.ReadSymbols(two)
		if err != nil {
			t.Fatal(err)
		}
		again, err := event.ReadSymbols(one)
		if err != nil || a.Build == "" || a.Build == b.Build || a.Build != again.Build {
			t.Errorf("%v: builds %q, %q and %q (%v)", flags, a.Build, b.Build, again.Build, err)
		}
	}
}

func TestNoELF(t *testing.T) {
	if f, err := event.ReadSymbols("symbol.go"); err == nil {
		t.Errorf("%+v", f)
	}
}

// A place in a program is named by its function and line where the program has
// them, by its symbol where it has no lines, by its offset where it has neither;
// names of C++ as its text has them. The table of lines begins with a function that lies
// behind all others.
func TestConstruct(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("needs g++: install with apt-get install g++")
	}
	const text = `#include <stdint.h>
__attribute__((section("late"), used)) static int first(int n) { return n; } extern "C" __attribute__((noinline)) uintptr_t omp_here(int n) {
    asm volatile("");
    return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)) + n;
}
namespace tiles { __attribute__((noinline)) uintptr_t update(int n) {
    return omp_here(n) + n; // line 7
} }
extern "C" char __executable_start;
#include <cstdio>
int main(int n, char **) { std::printf("%lu", (unsigned long)(tiles::update(n - 1) - (uintptr_t)&__executable_start)); }
`
	for flags, want := range map[string]string{"-g": ":update (place.cpp:7)", "": ":tiles::update+0x", "-s": "+0x"} {
		if got := construct(t, "g++", "place.cpp", text, flags); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q...", flags, got, want)
		}
	}
}

// A call of the runtime with which a function ends leaves the return address of the function's
// caller, and is named by the function. The runtime may be linked statically.
func TestLastCall(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc")
	}
	const text = `#include <stdint.h>
#include <stdio.h>
extern char __executable_start;
__attribute__((noinline)) uintptr_t GOMP_here(int n) {
    asm volatile("");
    return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)) + n;
}
__attribute__((noinline)) uintptr_t work(int n) {
    return GOMP_here(n); // its last call
}
int main(int n, char **v) {
    uintptr_t at = work(n - 1); // line 12
    printf("%lu", (unsigned long)(at - (uintptr_t)&__executable_start));
}
`
	for flags, want := range map[string]string{"-g": ":work (called at last.c:12)", "": ":work", "-s": "+0x"} {
		if got := construct(t, "gcc", "last.c", text, "-O2", flags); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q...", flags, got, want)
		}
	}
}

// construct compiles a program that prints an offset, and returns the construct there.
func construct(t *testing.T, compiler, name, text string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, name), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := slices.DeleteFunc(append([]string{"-O1", "-o", program, source}, flags...), func(s string) bool { return s == "" })
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	offset, err := strconv.ParseUint(string(said), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	f, err := event.ReadSymbols(program)
	if err != nil {
		t.Fatal(err)
	}
	return f.Construct(offset)
}

// What gcc makes of a construct is named by the function and the line of its own.
func TestBody(t *testing.T) {
	program := filepath.Join(t.TempDir(), "a")
	cmd := exec.Command("gcc", "-g", "-O2", "-fopenmp", "-x", "c", "-o", program, "-")
	cmd.Stdin = strings.NewReader("int main(int n, char **v) {\n#pragma omp task\nv[0][0] = 1;\n\n#pragma omp task\nv[0][0] = 2;\nreturn n < 1; }\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("needs gcc with OpenMP: %v\n%s", err, out)
	}
	f, err := event.ReadSymbols(program)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for offset := range uint64(1 << 14) {
		if f.IsTaskBody(offset) {
			names[f.TaskBody(offset)] = true
		}
	}
	for name := range names {
		if !strings.HasPrefix(name, ":main (<stdin>:") {
			t.Error(name)
		}
	}
	if len(names) != 2 {
		t.Errorf("%v", names)
	}
}

// A line of a Fortran program is not named by a procedure that is called above it.
func TestFortran(t *testing.T) {
	program := filepath.Join(t.TempDir(), "a")
	cmd := exec.Command("gfortran", "-g", "-O1", "-fopenmp", "-shared", "-fPIC", "-x", "f95", "-o", program, "-")
	cmd.Stdin = strings.NewReader("program main\n external :: flush_all\n call flush_all(3)\n !$omp task\n print *, 1\n !$omp end task\nend program\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("needs gfortran: install with apt-get install gfortran: %v\n%s", err, out)
	}
	f, err := event.ReadSymbols(program)
	if err != nil {
		t.Fatal(err)
	}
	for offset := range uint64(1 << 14) {
		if f.IsTaskBody(offset) && strings.Contains(f.TaskBody(offset), "flush_all") {
			t.Error(f.TaskBody(offset))
		}
	}
}
