package launch

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foretime/foretime/chamtool/internal/event"
)

// Errors of a program that cannot run under the tool.
var (
	// ErrNoTool is returned if libchamtool.so is in none of the places.
	ErrNoTool = errors.New("libchamtool.so was not found")
	// ErrNoRuntime is returned for a program of gcc's runtime if LLVM's is not there to
	// replace it.
	ErrNoRuntime = errors.New("LLVM's OpenMP runtime, libomp.so.5, was not found")
	// ErrIncompatible is returned for a program that calls functions of gcc's runtime that
	// LLVM's lacks. With both runtimes in one process its results would be wrong.
	ErrIncompatible = errors.New("LLVM's OpenMP runtime cannot replace gcc's")
)

const library = "libchamtool.so"

// Tool returns the path of libchamtool.so: the given one, or that next to the command, in
// lib/foretime or lib next to or above it, libexec/foretime above it, as pip installs it, or in
// the working directory. The error wraps
// [ErrNoTool] and names the places.
func Tool(given, command, dir string) (string, error) {
	places := []string{given}
	if given == "" {
		at := filepath.Dir(command)
		places = nil
		for _, in := range []string{at, filepath.Join(at, "lib", "foretime"), filepath.Join(at, "..", "lib", "foretime"), filepath.Join(at, "..", "lib"), filepath.Join(at, "..", "libexec", "foretime"), dir} {
			places = append(places, filepath.Join(in, library))
		}
	}
	for _, p := range places {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return filepath.Abs(p)
		}
	}
	return "", fmt.Errorf("%w: not at %s; name it with --tool", ErrNoTool, strings.Join(places, ", "))
}

// Runtime is the runtime that a program's tasks belong to.
type Runtime int

// The runtimes. A program of which nothing is known may load one later, as a script does.
const (
	Unknown Runtime = iota
	LLVM
	GNU
	Chameleon
)

// String returns the runtime's name.
func (r Runtime) String() string {
	return [...]string{"no known OpenMP runtime", "LLVM's OpenMP runtime (libomp)", "gcc's OpenMP runtime (libgomp)", "the Chameleon runtime"}[r]
}

// Program is the program of a command.
type Program struct {
	Path    string
	Runtime Runtime
	MPI     bool // it is linked with MPI, or started by a launcher of MPI
}

// FindProgram returns the program of a command. A launcher such as mpirun is linked with no
// runtime: then the first of its arguments that is such a program counts. find finds a program
// as a shell does, such as exec.LookPath; libraries returns the names of the libraries that a
// program is linked with, also through others.
func FindProgram(args []string, find func(string) (string, error), libraries func(path string) []string) Program {
	p := Program{}
	for i, a := range args {
		path, err := find(a)
		if err != nil {
			continue
		}
		p.MPI = p.MPI || i == 0 && anyPrefix([]string{filepath.Base(a)}, "mpirun", "mpiexec", "prterun", "srun")
		linked := libraries(path)
		p.MPI = p.MPI || anyPrefix(linked, "libmpi.", "libmpi_", "libmpich", "libmpifort", "libmpicxx")
		for _, known := range []struct {
			runtime  Runtime
			prefixes []string
		}{{Chameleon, []string{"libchameleon."}}, {LLVM, []string{"libomp.", "libomp-", "libiomp5."}}, {GNU, []string{"libgomp.", "libgomp-"}}} {
			if anyPrefix(linked, known.prefixes...) {
				p.Path, p.Runtime = path, known.runtime
				return p
			}
		}
	}
	return p
}

// anyPrefix reports whether one of the names begins with one of the prefixes.
func anyPrefix(names []string, prefixes ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}

// HasGNULoader reports whether the loader of the GNU C library starts a file, which lists the
// libraries of a program on request.
func HasGNULoader(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	section := f.Section(".interp")
	if section == nil {
		return false
	}
	loader, _ := section.Data()
	return strings.Contains(string(loader), "/ld-linux") || strings.Contains(string(loader), "/ld64.so")
}

// LLVMRuntime returns the path of LLVM's OpenMP runtime of the highest version in the
// usual places of a root, and in dirs. The error is [ErrNoRuntime].
func LLVMRuntime(root fs.FS, dirs []string) (string, error) {
	for _, d := range dirs {
		for _, name := range []string{"libomp.so.5", "libomp.so"} {
			p := path.Join(strings.TrimPrefix(d, "/"), name)
			if _, err := fs.Stat(root, p); err == nil && d != "" {
				return "/" + p, nil
			}
		}
	}
	var found []string
	for _, pattern := range []string{"usr/lib/llvm-*/lib/libomp.so.5", "usr/lib/*/libomp.so.5", "usr/lib64/libomp.so*", "usr/lib/libomp.so*", "usr/local/lib/libomp.so*", "opt/*/lib/libomp.so*"} {
		some, _ := fs.Glob(root, pattern)
		slices.SortFunc(some, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(b, a)) })
		found = append(found, some...)
	}
	if len(found) == 0 {
		return "", ErrNoRuntime
	}
	return "/" + found[0], nil
}

// Replaceable returns an error that wraps [ErrIncompatible] if a program calls functions
// of gcc's runtime that the library at the path runtime does not define.
func Replaceable(program, runtime string) error {
	replacement, err := elf.Open(runtime)
	if err != nil {
		return fmt.Errorf("%s: %w", runtime, err)
	}
	defer replacement.Close()
	symbols, err := replacement.DynamicSymbols()
	if err != nil {
		return fmt.Errorf("%s: %w", runtime, err)
	}
	defined := map[string]bool{}
	for _, s := range symbols {
		defined[s.Name] = defined[s.Name] || s.Section != elf.SHN_UNDEF
	}
	f, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	defer f.Close()
	calls, err := f.ImportedSymbols()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	var missing []string
	called := func(name string) bool {
		return slices.ContainsFunc(calls, func(s elf.ImportedSymbol) bool { return s.Name == name })
	}
	if called("GOMP_task") && called("omp_fulfill_event") {
		return fmt.Errorf("%w: %s has tasks with a detach clause, which its GOMP_task does not know", ErrIncompatible, program)
	}
	for _, s := range calls {
		if anyPrefix([]string{s.Name}, "GOMP_", "GOACC_", "omp_", "acc_") && !defined[s.Name] {
			missing = append(missing, s.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %s calls %s, not in %s", ErrIncompatible, program, strings.Join(missing, ", "), runtime)
	}
	return nil
}

// Doubt returns what may go wrong if LLVM's runtime replaces a program's, or "". Its GOMP_task
// runs a task whose if clause is false at once, on variables that it has not copied, although
// gcc gives it a function that copies them.
func Doubt(program string) string {
	f, err := elf.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	symbols, _ := f.Symbols() // a stripped program has none
	for _, s := range symbols {
		if strings.Contains(s.Name, "_omp_cpyfn") {
			return "it has tasks with variables that a function copies (" + s.Name + "), which LLVM's runtime does not call where an if clause is false: the program may fail or be wrong then; build it with LLVM's compiler, or use final instead of if"
		}
	}
	return ""
}

// Preloads returns what to preload in order to replace a program's runtime by that at a path:
// the sanitizers that the program is linked with come first, they do not start
// otherwise.
func Preloads(program, runtime string) string {
	f, err := elf.Open(program)
	if err != nil {
		return runtime
	}
	defer f.Close()
	libraries, _ := f.ImportedLibraries()
	var first []string
	for _, l := range libraries {
		if anyPrefix([]string{l}, "libasan.", "libhwasan.", "liblsan.", "libtsan.") {
			first = append(first, l)
		}
	}
	return strings.Join(append(first, runtime), ":")
}

// Environ returns an environment in which the runtime loads the tool and the tool writes
// into a directory. preload is libraries that are loaded before the program's, or "".
func Environ(environ []string, tool, logs, preload string) []string {
	environ = append(slices.Clip(environ), event.OpenMPLibraries+"="+tool, event.OpenMPEnable+"=enabled", event.LibrariesVariable+"="+tool, "CHAMTOOL_LOG_DIR="+logs)
	if preload == "" {
		return environ
	}
	for _, e := range slices.Backward(environ) {
		if held, ok := strings.CutPrefix(e, "LD_PRELOAD="); ok && held != "" {
			preload += ":" + held
			break
		}
	}
	return append(environ, "LD_PRELOAD="+preload)
}
