package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// soName is the library's name for the system's loader.
const soName = "libonnxruntime.so.1"

// libraryFiles matches the library in a directory, whatever its version.
const libraryFiles = "libonnxruntime.so*"

// remedy says how to install ONNX Runtime.
const remedy = "install it with: pip install --upgrade onnxruntime"

// library is the native library in use: its file and its name with the version.
var library struct{ path, name string }

// open loads the native library, once, from a file, a directory that contains it, or, for
// "", from the usual places. The error matches [runtime.ErrUnavailable]; it gives each
// library that was found with the reason why it cannot be used, and the remedy.
func open(ctx context.Context, path string) error {
	if ort.IsInitialized() {
		return nil
	}
	where := search{environment: os.Getenv("VIRTUAL_ENV"), python: pythonPackage(ctx), prefixes: []string{"/usr/local/lib", "/usr/lib"}}
	if dir, err := os.Getwd(); err == nil {
		where.folders = append(where.folders, dir)
	}
	if exe, err := os.Executable(); err == nil {
		where.folders = append(where.folders, filepath.Dir(exe))
	}
	candidates := where.candidates()
	if path != "" {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("%w: ONNX Runtime: %w", runtime.ErrUnavailable, err)
		}
		candidates = []string{path}
		if info.IsDir() {
			candidates = librariesIn(path)
		}
	}
	var refused []error
	for _, path := range candidates {
		err := initialize(path)
		if err == nil {
			return nil
		}
		if path != soName { // a name that the loader does not find is no library
			refused = append(refused, err)
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("%w: %w; %s", runtime.ErrUnavailable, errors.Join(refused...), remedy)
	}
	missing := "no " + soName
	if in := cmp.Or(path, where.python); in != "" {
		missing += " in " + in + " (wheels before 1.19 contain none)"
	}
	return fmt.Errorf("%w: ONNX Runtime: %s; %s", runtime.ErrUnavailable, missing, remedy)
}

// initialize loads one library.
func initialize(path string) error {
	ort.SetSharedLibraryPath(path)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		if version := refusedVersion(); version != "" {
			return fmt.Errorf("%s is ONNX Runtime %s, want 1.%d or newer", path, version, oldestMinor)
		}
		return fmt.Errorf("ONNX Runtime: %s: %w", path, err)
	}
	library.path = loadedPath(path)
	library.name = fmt.Sprintf("ONNX Runtime %s, %s", ort.GetVersion(), library.path)
	return nil
}

// loadedPath returns the file of a library that the system's loader found by name.
func loadedPath(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	maps, _ := os.ReadFile("/proc/self/maps") // its lines end with the mapped file
	for line := range strings.Lines(string(maps)) {
		if at := strings.IndexByte(line, '/'); at >= 0 && strings.Contains(filepath.Base(line[at:]), "libonnxruntime.so") {
			return strings.TrimSpace(line[at:])
		}
	}
	return path
}

// search holds the places in which this program looks for the library.
type search struct {
	folders     []string // the working directory and this program's
	environment string   // the active Python environment
	python      string   // the package of the first python3 of PATH
	prefixes    []string // of the system
}

// pythonPackage asks the first python3 of PATH where it has the package, without loading
// it; "" if it has none.
func pythonPackage(ctx context.Context) string {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	const question = `import importlib.util as u; s = u.find_spec("onnxruntime"); print(s.submodule_search_locations[0] if s and s.submodule_search_locations else "")`
	out, err := exec.CommandContext(ctx, "python3", "-c", question).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// layouts are the directories of the library in a package of pip, of npm or of a system,
// below a directory of such packages.
var layouts = []string{
	"", "capi", "onnxruntime/capi", "lib/python3*/site-packages/onnxruntime/capi",
	"node_modules/onnxruntime-node/" + nodeFolder, nodeFolder, "*-linux-gnu*",
}

// nodeFolder is the library's directory in the package of npm.
var nodeFolder = "bin/napi-v*/linux/" + strings.Replace(goruntime.GOARCH, "amd64", "x64", 1)

// librariesIn returns the libraries in a directory, in one of the layouts.
func librariesIn(dir string) []string {
	var found []string
	for _, layout := range layouts {
		files, _ := filepath.Glob(filepath.Join(escapePattern(dir), layout, libraryFiles)) // the pattern is well formed
		found = append(found, files...)
	}
	return found
}

// candidates returns the libraries to try, in order: next to this program and in the
// working directory, of the active Python environment, of packages of pip and npm in these
// directories and in any above them, of the first python3, and of the system.
func (p search) candidates() []string {
	var found []string
	for _, dir := range p.folders {
		files, _ := filepath.Glob(filepath.Join(escapePattern(dir), libraryFiles))
		found = append(found, files...)
	}
	if p.environment != "" {
		found = append(found, librariesIn(p.environment)...)
	}
	for _, start := range p.folders {
		for dir := start; ; dir = filepath.Dir(dir) {
			wheels, _ := filepath.Glob(filepath.Join(escapePattern(dir), "out", "real", "pip", "onnxruntime==*"))
			for _, above := range append(wheels, dir) {
				found = append(found, librariesIn(above)...)
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if p.python != "" {
		found = append(found, librariesIn(p.python)...)
	}
	found = append(found, soName)
	for _, prefix := range p.prefixes {
		found = append(found, librariesIn(prefix)...)
	}
	return slices.Compact(found)
}

// escapePattern returns a pattern that matches a directory's name alone.
func escapePattern(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}
