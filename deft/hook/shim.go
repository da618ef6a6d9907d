package hook

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/foretime/foretime/deft/internal/cc"
)

// ErrNoDriver is returned when no driver library is found, and for a file that
// is none.
var ErrNoDriver = errors.New("no CUDA driver")

// driverFolders lists the directories in which installations put the driver's library.
var driverFolders = []string{
	"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
	"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/run/opengl-driver/lib",
}

// FindDriver returns the first libcuda.so.1 in the given directories, or else in those of
// installations.
func FindDriver(folders ...string) (string, error) {
	for _, dir := range append(slices.Clone(folders), driverFolders...) {
		path := filepath.Join(dir, "libcuda.so.1")
		if _, err := os.Stat(path); dir != "" && err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("%w: no libcuda.so.1 in %s", ErrNoDriver, strings.Join(append(slices.Clone(folders), driverFolders...), ", "))
}

// BuildShim compiles a libcuda.so.1 that replaces the driver (a path, which the programs
// load through it), for programs that a preload cannot reach: put its directory first in
// LD_LIBRARY_PATH. It has every function that the driver exports; those that libdeft does
// not wrap jump to the driver.
func BuildShim(ctx context.Context, cache string, driver string) (string, error) {
	driver, err := filepath.Abs(driver)
	if err != nil {
		return "", fmt.Errorf("hook: %w", err)
	}
	exports, err := exportedNames(driver)
	if err != nil {
		return "", fmt.Errorf("hook: %s: %w", driver, err)
	}
	sources, err := shimSources(exports)
	if err != nil {
		return "", fmt.Errorf("hook: %w", err)
	}
	args := append(compilerFlags(), linkerFlags("libcuda.so.1")...)
	args = append(args, "-Wl,--version-script=shim.map", `-DDEFT_SHIM="`+driver+`"`, "shim.c")
	return cc.Build(ctx, cache, cc.Product{Name: "libcuda.so.1", Sources: []fs.FS{Sources(), sources}, Args: append(args, Files()...)})
}

// shimSources returns two files made for a driver, in addition to the library's own:
// rest.h, with the functions that are not wrapped, and shim.map, with the exported names:
// exactly those of the driver, and the marks of jobs.
func shimSources(exports []string) (fs.FS, error) {
	own, err := wrappedNames()
	if err != nil {
		return nil, err
	}
	var rest, names strings.Builder
	n := 0
	for _, name := range exports {
		fmt.Fprintf(&names, " %s;", name)
		if !slices.Contains(own, name) {
			fmt.Fprintf(&rest, " \\\n    ROW(%s, %d)", name, n)
			n++
		}
	}
	return fstest.MapFS{
		"rest.h":   {Data: []byte("#define DEFT_REST(ROW)" + rest.String() + "\n")},
		"shim.map": {Data: []byte("{ global:" + names.String() + " deft_job_begin; deft_job_end; local: *; };\n")},
	}, nil
}

// exportedNames lists the functions that a driver exports, in order.
func exportedNames(path string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC && elf.ST_BIND(s.Info) != elf.STB_LOCAL && plainName.MatchString(s.Name) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	if !slices.Contains(names, "cuInit") {
		return nil, fmt.Errorf("%w: it does not export cuInit", ErrNoDriver)
	}
	return slices.Compact(names), nil
}

// plainName matches a name that is valid in a C file; the loader has _init and _fini.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// entryRow matches a row of the table in driver.h.
var entryRow = regexp.MustCompile(`(?m)^    (ROW|PTSZ|PTDS)\(.*?\b(cu\w+)`)

// wrappedNames lists the entry points that libdeft wraps, from driver.h.
func wrappedNames() ([]string, error) {
	body, err := fs.ReadFile(Sources(), "driver.h")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range entryRow.FindAllStringSubmatch(string(body), -1) {
		names = append(names, m[2])
		if m[1] != "ROW" {
			names = append(names, m[2]+"_"+strings.ToLower(m[1]))
		}
	}
	return names, nil
}
