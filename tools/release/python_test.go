package release

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/foretime/foretime/tools/workspace"
)

var stored = flag.Bool("store-notebooks", false, "write what the notebooks print and draw into them")

// site installs the packages of all tools below a new directory, with their programs, and
// returns it and the packages' names.
func site(t *testing.T) (dir string, packages []string) {
	t.Helper()
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, m := range ws.Modules {
		if _, err := os.Stat(filepath.Join(m.Dir, "cmd", m.Name)); err != nil {
			continue // not a tool
		}
		at := filepath.Join(dir, "bin", m.Name)
		if _, err := (command{dir: m.Dir, name: "go"}).run(t.Context(), "build", "-o", at, "./cmd/"+m.Name); err != nil {
			t.Fatal(err)
		}
		modules, err := pythonModules(t.Context(), m.Dir, m.Name, at)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(m.Name, "-", "_")
		for path, body := range modules {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755), os.WriteFile(filepath.Join(dir, path), body, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		packages = append(packages, name)
	}
	return dir, packages
}

// python returns a command of Debian's Python, for which make real installs packages, in
// an empty directory of its own.
func python(t *testing.T, site string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PYTHONPATH="+site, "PATH="+filepath.Join(site, "bin")+":"+os.Getenv("PATH"), "HOME="+cmd.Dir)
	for _, name := range []string{"STATE", "CACHE", "DATA", "CONFIG"} {
		cmd.Env = append(cmd.Env, "XDG_"+name+"_HOME="+cmd.Dir)
	}
	return cmd
}

// TestRealPython type checks the packages, calls their functions, and has mypy find every
// wrong call.
func TestRealPython(t *testing.T) {
	site, packages := site(t)
	calls, err1 := filepath.Abs(filepath.Join("testdata", "calls.py"))
	nonsense, err2 := filepath.Abs(filepath.Join("testdata", "nonsense.py"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	mypy := func(args ...string) ([]byte, error) {
		check := exec.CommandContext(t.Context(), "mypy", append([]string{"--strict", "--cache-dir", filepath.Join(site, "cache")}, args...)...)
		check.Dir = site
		check.Env = append(os.Environ(), "MYPYPATH="+site)
		return check.CombinedOutput()
	}
	if out, err := mypy(append([]string{calls}, packages...)...); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	found, _ := mypy(nonsense) // with errors
	text, err := os.ReadFile(nonsense)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		wrong := strings.Contains(line, "# WRONG")
		if has := bytes.Contains(found, fmt.Appendf(nil, "nonsense.py:%d: error:", i+1)); has != wrong {
			t.Errorf("mypy finds an error %v in line %d: %s\n%s", has, i+1, line, found)
		}
	}
	for _, name := range packages {
		generated, err := os.ReadFile(filepath.Join(site, name, "_commands.py"))
		if err != nil || bytes.Contains(generated, []byte("Any")) {
			t.Errorf("%s: an answer of type Any (%v)", name, err)
		}
	}
	call := python(t, site, calls)
	frames, _ := filepath.Glob(filepath.Join("..", "..", "out", "real", "pip", "polars==*")) // the pattern is well formed
	for _, dir := range frames {
		dir, err := filepath.Abs(dir)
		if err != nil {
			t.Fatal(err)
		}
		call.Env = append(call.Env, "PYTHONPATH="+site+":"+dir, "POLARS_ALLOW_FORKING_THREAD=1")
	}
	if out, err := call.CombinedOutput(); err != nil || !bytes.HasSuffix(out, []byte("done\n")) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRealNotebooks runs the notebooks of the guides, then the examples in Python of each
// guide on what its notebook has left.
func TestRealNotebooks(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	site, packages := site(t)
	library := filepath.Join(site, "libexec", "foretime", "libchamtool.so")
	build := command{dir: filepath.Join(ws.Root, "chamtool"), name: "go"}
	if _, err := build.run(t.Context(), "build", "-buildmode=c-shared", "-o", library, "./cmd/libchamtool"); err != nil {
		t.Fatal(err)
	}
	if _, err := (command{dir: filepath.Join(ws.Root, "edgeprof"), name: "go"}).run(t.Context(), "build", "-o", filepath.Join(site, "bin")+"/", "./cmd/edgeprof-ort"); err != nil {
		t.Fatal(err)
	}
	runtimes, _ := filepath.Glob(filepath.Join(ws.Root, "out", "real", "pip", "onnxruntime==*", "onnxruntime", "capi", "libonnxruntime.so*")) // the pattern is well formed
	if len(runtimes) == 0 {
		t.Skip("needs ONNX Runtime: install with make real")
	}
	if err := os.Symlink(runtimes[0], filepath.Join(site, "bin", "libonnxruntime.so.1")); err != nil {
		t.Fatal(err)
	}
	books, _ := filepath.Glob(filepath.Join(ws.Root, "*", "docs", "*.ipynb")) // the pattern is well formed
	if len(books) != len(packages) {
		t.Errorf("%d notebooks of %d tools", len(books), len(packages))
	}
	for _, book := range books {
		into := t.TempDir()
		cmd := python(t, site, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", into, filepath.Base(book))
		text, err := os.ReadFile(book)
		if err == nil {
			err = os.WriteFile(filepath.Join(cmd.Dir, filepath.Base(book)), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", book, err, out)
		}
		guide, err := os.ReadFile(strings.TrimSuffix(book, ".ipynb") + ".md")
		if err != nil {
			t.Fatal(err)
		}
		examples := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(guide, -1)
		if len(examples) == 0 {
			t.Errorf("%s: the guide has no example in Python", book)
		}
		for _, example := range examples {
			run := python(t, site, "-c", string(example[1]))
			run.Dir = cmd.Dir
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", book, err, out)
			}
		}
		if *stored { // with what it printed and drew
			filled, err := os.ReadFile(filepath.Join(into, filepath.Base(book)))
			if err == nil {
				err = os.WriteFile(book, bytes.ReplaceAll(filled, []byte(cmd.Dir), []byte(".")), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
