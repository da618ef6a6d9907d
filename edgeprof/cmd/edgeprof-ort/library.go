package main

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/foretime/foretime/edgeprof/runtime"
)

// The package that carries the library; it needs no other part of Node.
const (
	npmPackage = "onnxruntime-node@1.30.0"
	npmFolder  = "onnxruntime-node/bin/napi-v6"
	soName     = "libonnxruntime.so.1"
)

// open loads the native library, once. The error matches
// [runtime.ErrUnavailable] and says how to install it.
func open(path string) error {
	if ort.IsInitialized() {
		return nil
	}
	if path == "" {
		var err error
		if path, err = find(); err != nil {
			return err
		}
	} else if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w: ONNX Runtime: %w", runtime.ErrUnavailable, err)
	}
	ort.SetSharedLibraryPath(path)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("%w: ONNX Runtime: %s: %w", runtime.ErrUnavailable, path, err)
	}
	return nil
}

// find looks for the library beside this program, in a node_modules folder of
// the working folder, of this program's folder or of any above them, and where
// the system keeps libraries.
func find() (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[goruntime.GOARCH]
	var places []string
	for _, start := range folders() {
		places = append(places, filepath.Join(start, soName))
		for dir := start; ; dir = filepath.Dir(dir) {
			for _, under := range []string{"", "out/real"} {
				places = append(places, filepath.Join(dir, under, "node_modules", npmFolder, "linux", arch, soName))
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	for _, dir := range []string{"/usr/local/lib", "/usr/lib", "/usr/lib/" + map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[goruntime.GOARCH] + "-linux-gnu"} {
		places = append(places, filepath.Join(dir, soName))
	}
	for _, path := range places {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: ONNX Runtime: no %s; install it with: npm install --ignore-scripts %s", runtime.ErrUnavailable, soName, npmPackage)
}

func folders() []string {
	var out []string
	if dir, err := os.Getwd(); err == nil {
		out = append(out, dir)
	}
	if exe, err := os.Executable(); err == nil {
		out = append(out, filepath.Dir(exe))
	}
	return out
}
