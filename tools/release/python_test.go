package release

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/tools/workspace"
)

// TestRealPython checks that each tool's module _commands is the one that its program
// describes, type checks the packages and calls their functions.
func TestRealPython(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	site := t.TempDir()
	program := func(m workspace.Module) {
		at := filepath.Join(site, "bin", m.Name)
		if _, err := (command{dir: m.Dir, name: "go"}).run(t.Context(), "build", "-o", at, "./cmd/"+m.Name); err != nil {
			t.Fatal(err)
		}
		want, err := Commands(t.Context(), m.Name, at)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := os.ReadFile(filepath.Join(m.Dir, "python", "_commands.py"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(stored, want) {
			t.Errorf("%s/python/_commands.py differs from the program's description: go run ./tools/cmd/release python", m.Name)
		}
	}
	var packages []string
	for _, m := range ws.Modules {
		if _, err := os.Stat(filepath.Join(m.Dir, "cmd", m.Name)); err != nil {
			continue
		}
		program(m)
		modules, err := pythonModules(m.Dir, m.Name)
		if err != nil {
			t.Fatal(err)
		}
		for name, body := range modules {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(site, name)), 0o755), os.WriteFile(filepath.Join(site, name), body, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		packages = append(packages, strings.ReplaceAll(m.Name, "-", "_"))
	}
	calls, err := filepath.Abs(filepath.Join("testdata", "calls.py"))
	if err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), "mypy", append([]string{"--strict", "--cache-dir", t.TempDir(), calls}, packages...)...)
	check.Dir = site
	check.Env = append(os.Environ(), "MYPYPATH="+site)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	call := exec.CommandContext(t.Context(), "/usr/bin/python3", calls) // for which make real installs pandas
	call.Dir = t.TempDir()
	call.Env = append(os.Environ(), "PYTHONPATH="+site, "HOME="+call.Dir, "XDG_STATE_HOME="+call.Dir, "XDG_CACHE_HOME="+call.Dir, "XDG_DATA_HOME="+call.Dir, "XDG_CONFIG_HOME="+call.Dir)
	if out, err := call.CombinedOutput(); err != nil || !bytes.HasSuffix(out, []byte("done\n")) {
		t.Errorf("%v: %s", err, out)
	}
}
