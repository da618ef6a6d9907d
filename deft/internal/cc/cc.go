package cc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrNoCompiler is returned when the C compiler cannot be found or started.
var ErrNoCompiler = errors.New("no C compiler (install gcc and libc6-dev)")

// CompileError is returned when the compiler ran and refused the sources.
type CompileError struct {
	Product string // the file that was to be made
	Command string // the compiler and its arguments
	Output  string // what the compiler wrote
}

func (e *CompileError) Error() string {
	return fmt.Sprintf("cc: %s: %s: %s", e.Product, e.Command, firstLines(e.Output, 5))
}

// Product describes one file to compile from C sources.
type Product struct {
	Name    string   // file name of the result, such as libcuda.so.1
	Sources []fs.FS  // the files that the compiler may read, at their roots; no name twice
	Args    []string // compiler arguments without -o, relative to Sources
	// Prebuilt holds the product of a release for this processor, or nil: it is compiled.
	Prebuilt []byte
}

// Prebuilt returns the product NAME of a release for this processor from its directory
// made/GOARCH, as `make made` writes it; nil if there is none.
func Prebuilt(files fs.FS, name string) []byte {
	body, err := fs.ReadFile(files, path.Join("made", runtime.GOARCH, name))
	if err != nil {
		return nil
	}
	return body
}

// Build returns the absolute path of the product in the directory cache, which is created if
// absent: it compiles the product unless the cache has it. It may be called from any number
// of processes at once.
func Build(ctx context.Context, cache string, p Product) (made string, err error) {
	defer func() {
		if refused := (*CompileError)(nil); err != nil && !errors.As(err, &refused) {
			err = fmt.Errorf("cc: %s: %w", p.Name, err)
		}
	}()
	if p.Name == "" || p.Name != filepath.Base(p.Name) {
		return "", fmt.Errorf("product name %q: want a file name without directories", p.Name)
	}
	if cache == "" {
		return "", errors.New("no cache directory given")
	}
	if cache, err = filepath.Abs(cache); err != nil {
		return "", err
	}
	compiler := "" // none is needed
	if p.Prebuilt == nil {
		if compiler, err = findCompiler(); err != nil {
			return "", err
		}
	}
	key, err := p.key(compiler)
	if err != nil {
		return "", err
	}
	home := filepath.Join(cache, key)
	product := filepath.Join(home, p.Name)
	if _, err := os.Stat(product); err == nil {
		return product, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cache, ".making-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := compile(ctx, compiler, p, work); err != nil {
		return "", err
	}
	err = os.Rename(filepath.Join(work, "product"), home)
	if _, there := os.Stat(product); there == nil {
		return product, nil // ours, or that of a process that was quicker
	}
	return "", err
}

// findCompiler returns the compiler's absolute path.
func findCompiler() (string, error) {
	found, err := exec.LookPath("cc")
	if err != nil {
		return "", ErrNoCompiler
	}
	return filepath.Abs(found)
}

// compile writes the sources to work/src and the result to work/product: that of a release
// if no compiler is given.
func compile(ctx context.Context, compiler string, p Product, work string) error {
	src, out := filepath.Join(work, "src"), filepath.Join(work, "product")
	err := errors.Join(os.Mkdir(src, 0o700), os.Mkdir(out, 0o700))
	for _, from := range p.Sources {
		err = errors.Join(err, os.CopyFS(src, from))
	}
	if err != nil {
		return err
	}
	if compiler == "" {
		return os.WriteFile(filepath.Join(out, p.Name), p.Prebuilt, 0o700)
	}
	args := append([]string{"-o", filepath.Join(out, p.Name)}, p.Args...)
	cmd := exec.CommandContext(ctx, compiler, args...)
	cmd.Dir = src
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	if _, refused := errors.AsType[*exec.ExitError](err); refused && ctx.Err() == nil {
		return &CompileError{p.Name, compiler + " " + strings.Join(p.Args, " "), output.String()}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", compiler, errors.Join(err, ctx.Err()))
	}
	return nil
}

// key names everything that the product depends on.
func (p Product) key(compiler string) (string, error) {
	h := sha256.New()
	if compiler == "" {
		h.Write(p.Prebuilt)
		return hex.EncodeToString(h.Sum(nil))[:16], nil
	}
	info, err := os.Stat(compiler)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%q %d %d %s %q %q\n", compiler, info.Size(), info.ModTime().UnixNano(), runtime.GOARCH, p.Name, p.Args)
	for _, from := range p.Sources {
		err = errors.Join(err, fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := fs.ReadFile(from, name)
			fmt.Fprintf(h, "%q %d\n%s\n", name, len(body), body)
			return err
		}))
	}
	return hex.EncodeToString(h.Sum(nil))[:16], err
}

func firstLines(s string, n int) string {
	lines := strings.SplitN(strings.TrimSpace(s), "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
