//go:build develop

// Command readme writes the measured block of README.md from the results of the
// last `make tour` and `make test` in out/, and stores those results and the
// README's picture next to the code; also the table of rivals, if `make rivals` ran.
// `make readme` runs it.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/tools/readme"
	"github.com/foretime/foretime/tools/rivals"
	"github.com/foretime/foretime/tools/workspace"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

func run() error {
	ws, err := workspace.Find(".")
	if err != nil {
		return err
	}
	stored := filepath.Join(ws.Root, "tools", "readme", "measured")
	for from, to := range map[string]string{"results.json": "tour.json", "deft/urgent.svg": "urgent.svg"} {
		if _, err := copyFile(filepath.Join(ws.Root, "out", "tour", from), filepath.Join(stored, to)); err != nil {
			return fmt.Errorf("run make tour first: %w", err)
		}
	}
	if err := storeTests(ws.Root, filepath.Join(stored, "test.json")); err != nil {
		return fmt.Errorf("run make test first: %w", err)
	}
	toured, counts, err := readme.Load(filepath.Join(stored, "tour.json"), filepath.Join(stored, "test.json"))
	if err != nil {
		return err
	}
	block, err := readme.Render(toured, counts)
	if err != nil {
		return err
	}
	if err := writeBlock(filepath.Join(ws.Root, "README.md"), block); err != nil {
		return err
	}
	return storeRivals(ws.Root)
}

// storeTests counts the results of `make test`, and stores them.
func storeTests(root, to string) error {
	f, err := os.Open(filepath.Join(root, "out", "test", "test.json"))
	if err != nil {
		return err
	}
	defer f.Close()
	var t readme.Tested
	if err := t.Count(f); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return file.WriteJSON(to, t)
}

// storeRivals stores the results of `make rivals`, if it ran, and writes its table.
func storeRivals(root string) error {
	docs := filepath.Join(root, "tools", "docs")
	stored, err := copyFile(filepath.Join(root, "out", "rivals.json"), filepath.Join(docs, "results", "rivals.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	results, err := rivals.Load(stored)
	if err != nil {
		return err
	}
	return writeBlock(filepath.Join(docs, "rivals.md"), results.Markdown("results/rivals.json"))
}

// copyFile copies a file and returns the name of the copy.
func copyFile(from, to string) (string, error) {
	data, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	return to, replace(to, data)
}

// writeBlock replaces the measured block of a document.
func writeBlock(path, block string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	updated, err := readme.Replace(string(text), block)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replace(path, []byte(updated))
}

func replace(path string, data []byte) error {
	return file.Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
