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

// FindRuntime returns the path of a command's program and the runtime that it is linked with. A
// launcher such as mpirun is linked with none: then the first of its arguments that is such
// a program counts. find finds a program as a shell does, such as exec.LookPath.
func FindRuntime(args []string, find func(string) (string, error)) (Runtime, string) {
	for _, a := range args {
		p, err := find(a)
		if err != nil {
			continue
		}
		if r := linked(p); r != Unknown {
			return r, p
		}
	}
	return Unknown, ""
}

// linked returns the runtime that a file is linked with.
func linked(program string) Runtime {
	f, err := elf.Open(program)
	if err != nil {
		return Unknown
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return Unknown
	}
	for _, known := range []struct {
		prefix  string
		runtime Runtime
	}{{"libchameleon.", Chameleon}, {"libomp.", LLVM}, {"libomp-", LLVM}, {"libiomp5.", LLVM}, {"libgomp.", GNU}} {
		if slices.ContainsFunc(libraries, func(l string) bool { return strings.HasPrefix(l, known.prefix) }) {
			return known.runtime
		}
	}
	return Unknown
}

// LLVMRuntime returns the path of LLVM's OpenMP runtime of the highest version in the
// usual places of a root, and in dirs. The error is [ErrNoRuntime].
func LLVMRuntime(root fs.FS, dirs []string) (string, error) {
	for _, d := range dirs {
		for _, name := range []string{"libomp.so.5", "libomp.so"} {
			if p := path.Join(strings.TrimPrefix(d, "/"), name); d != "" && exists(root, p) {
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
		ofGNU := slices.ContainsFunc([]string{"GOMP_", "GOACC_", "omp_", "acc_"}, func(prefix string) bool { return strings.HasPrefix(s.Name, prefix) })
		if ofGNU && !defined[s.Name] {
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
		if slices.ContainsFunc([]string{"libasan.", "libhwasan.", "liblsan.", "libtsan."}, func(prefix string) bool { return strings.HasPrefix(l, prefix) }) {
			first = append(first, l)
		}
	}
	return strings.Join(append(first, runtime), ":")
}

func exists(root fs.FS, p string) bool {
	_, err := fs.Stat(root, p)
	return err == nil
}

// Environ returns an environment in which the runtime loads the tool and the tool writes
// into a directory. preload is a library that replaces the program's runtime, or "".
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
