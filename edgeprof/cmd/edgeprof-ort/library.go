package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// soName is the library's name for the system's loader.
const soName = "libonnxruntime.so.1"

// opened is the library that was loaded, as "ONNX Runtime 1.30.0, PATH".
var opened struct{ path, name string }

// open loads the native library, once. The error matches
// [runtime.ErrUnavailable] and says how to install it.
func open(ctx context.Context, path string) error {
	if ort.IsInitialized() {
		return nil
	}
	var tried error
	candidates := []string{path}
	if path == "" {
		candidates = here(ctx).candidates()
	} else if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w: ONNX Runtime: %w", runtime.ErrUnavailable, err)
	}
	for _, path := range candidates {
		ort.SetSharedLibraryPath(path)
		if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
			if path != soName { // that one is asked of the system in case it has it
				tried = fmt.Errorf("%w: ONNX Runtime: %s: %w", runtime.ErrUnavailable, path, err)
			}
			continue
		}
		opened.path = loadedPath(path)
		opened.name = fmt.Sprintf("ONNX Runtime %s, %s", ort.GetVersion(), opened.path)
		return nil
	}
	if tried != nil {
		return tried
	}
	return fmt.Errorf("%w: ONNX Runtime: no %s; install it with: pip install onnxruntime", runtime.ErrUnavailable, soName)
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

// search says where this program looks for the library.
type search struct {
	folders     []string // the working folder and this program's
	environment string   // of Python, active: its VIRTUAL_ENV
	python      func() string
}

// here is the search of this process.
func here(ctx context.Context) search {
	s := search{environment: os.Getenv("VIRTUAL_ENV"), python: func() string { return pythonFolder(ctx) }}
	if dir, err := os.Getwd(); err == nil {
		s.folders = append(s.folders, dir)
	}
	if exe, err := os.Executable(); err == nil {
		s.folders = append(s.folders, filepath.Dir(exe))
	}
	return s
}

// pythonFolder asks the first python3 of PATH where it has the package, which is
// not loaded for that; "" if there is none.
func pythonFolder(ctx context.Context) string {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	const ask = `import importlib.util as u; s = u.find_spec("onnxruntime"); print(s.submodule_search_locations[0] if s and s.submodule_search_locations else "")`
	out, err := exec.CommandContext(ctx, "python3", "-c", ask).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// candidates are the libraries to try, in order: next to this program and the
// working folder, of the active Python environment, of a wheel below out/real/pip of these
// folders and of any above them, of the first python3, and what the system's
// loader finds by name.
func (s search) candidates() []string {
	var found []string
	add := func(patterns ...string) {
		for _, pattern := range patterns {
			files, _ := filepath.Glob(pattern) // a pattern of ours is well formed
			found = append(found, files...)
		}
	}
	for _, dir := range s.folders {
		add(filepath.Join(escaped(dir), soName))
	}
	const capi = "capi/libonnxruntime.so*"
	if s.environment != "" {
		add(filepath.Join(escaped(s.environment), "lib", "python3*", "site-packages", "onnxruntime", capi))
	}
	for _, start := range s.folders {
		for dir := start; ; dir = filepath.Dir(dir) {
			add(filepath.Join(escaped(dir), "out", "real", "pip", "onnxruntime==*", "onnxruntime", capi))
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if dir := s.python(); dir != "" {
		add(filepath.Join(escaped(dir), capi))
	}
	return append(found, soName)
}

// escaped is a folder's name as a pattern that matches it alone.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}
