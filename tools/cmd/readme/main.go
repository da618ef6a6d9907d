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
	data, err := os.ReadFile(filepath.Join(ws.Root, "out", "tour", "results.json"))
	if err != nil {
		return fmt.Errorf("run make tour first: %w", err)
	}
	if err := replace(filepath.Join(stored, "tour.json"), data); err != nil {
		return err
	}
	picture, err := os.ReadFile(filepath.Join(ws.Root, "out", "tour", "deft", "urgent.svg"))
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(stored, "urgent.svg"), picture); err != nil {
		return err
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
	path := filepath.Join(ws.Root, "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	updated, err := readme.Replace(string(text), block)
	if err != nil {
		return err
	}
	if err := replace(path, []byte(updated)); err != nil {
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
	data, err := os.ReadFile(filepath.Join(root, "out", "rivals.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	docs := filepath.Join(root, "tools", "docs")
	if err := os.MkdirAll(filepath.Join(docs, "results"), 0o755); err != nil {
		return err
	}
	stored := filepath.Join(docs, "results", "rivals.json")
	if err := replace(stored, data); err != nil {
		return err
	}
	results, err := rivals.Load(stored)
	if err != nil {
		return err
	}
	path := filepath.Join(docs, "rivals.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	updated, err := readme.Replace(string(text), results.Markdown("results/rivals.json"))
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
