package cli

import (
	"os"
	"path/filepath"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// companions returns the files that a command reads when it is given path: the rows and
// models in a directory, and the files that hold a model's external data. For an empty
// path it returns the file of this machine's rates.
func companions(path string) []string {
	if path == "" {
		rates, err := calibrationPath("", providers[0])
		if err != nil {
			return nil
		}
		return []string{rates}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		var all []string
		for _, pattern := range []string{"*.csv", "*.onnx"} {
			found, _ := filepath.Glob(filepath.Join(path, pattern)) // the pattern is well formed
			for _, file := range found {
				all = append(append(all, file), external(file)...)
			}
		}
		return all
	}
	return external(path)
}

// external returns the files next to a model that hold its external data.
func external(path string) []string {
	if filepath.Ext(path) != ".onnx" {
		return nil
	}
	m, err := onnx.ReadFile(path)
	if err != nil {
		return nil // the command reports it
	}
	var all []string
	for _, location := range m.ExternalFiles() {
		all = append(all, filepath.Join(filepath.Dir(path), location))
	}
	return all
}
