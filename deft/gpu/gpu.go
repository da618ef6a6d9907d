package gpu

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/shared/file"
)

//go:embed run_model.py checks.py pair.json
var files embed.FS

// Write puts run_model.py, checks.py and pair.json, the experiment of two
// detectors, into a folder of their own below cache, unless they are there
// already, and returns its absolute path. Any number of processes may call it at
// once.
func Write(cache string) (string, error) {
	names, err := fs.Glob(files, "*")
	if err != nil {
		return "", fmt.Errorf("gpu: %w", err)
	}
	sum := sha256.New()
	for _, name := range names {
		body, _ := files.ReadFile(name) // it is in the binary
		sum.Write(body)
	}
	folder, err := filepath.Abs(filepath.Join(cache, hex.EncodeToString(sum.Sum(nil)[:8])))
	if err != nil {
		return "", fmt.Errorf("gpu: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("gpu: %w", err)
	}
	for _, name := range names {
		body, _ := files.ReadFile(name)
		path := filepath.Join(folder, name)
		if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, body) {
			continue
		}
		err := file.Write(path, func(w io.Writer) error {
			_, err := w.Write(body)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("gpu: %w", err)
		}
	}
	return folder, nil
}
