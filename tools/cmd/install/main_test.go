package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

// TestLines checks the install commands and their target directories.
func TestLines(t *testing.T) {
	got := lines(map[string][]string{"apt": {"munge"}, "npm": {"left@1.0.0"}, "pip": {"wheel==0.45.1"}}, "/out/real")
	for _, want := range []string{
		"apt-get install -y --no-install-recommends munge",
		"npm install --ignore-scripts --no-audit --no-fund --prefix /out/real left@1.0.0",
		"python3 -m pip install --only-binary=:all: --no-deps --upgrade --target /out/real/pip/wheel==0.45.1 wheel==0.45.1",
	} {
		if !slices.ContainsFunc(got, func(line []string) bool { return strings.HasSuffix(strings.Join(line, " "), want) }) {
			t.Errorf("no line %q in %v", want, got)
		}
	}
	if none := lines(nil, "/out/real"); len(none) > 0 {
		t.Errorf("nothing is needed, but %v runs", none)
	}
}

func TestNeeded(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("real.txt", "# tools\napt python3\n# why\napt python3\n\napt munge # and why\n")
	more := write("more.txt", "apt python3\napt wrk\n")
	ws := &workspace.Workspace{Root: root, Modules: []workspace.Module{{Name: "m", Dir: root}, {Name: "n", Dir: t.TempDir()}}}
	needs, err := needed(ws, []string{more})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{"apt": {"python3", "wrk", "munge"}}, needs); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	if _, err := needed(ws, []string{filepath.Join(root, "none.txt")}); err == nil {
		t.Error("a file that is not there names no needs, without a word")
	}
	for _, line := range []string{"yum x", "apt", "npm left", "npm @scope/left", "pip wheel", "pip wheel==", "pip ==1"} {
		write("real.txt", "\n"+line+"\n")
		if _, err := needed(ws, nil); err == nil || !strings.Contains(err.Error(), "real.txt:2:") {
			t.Errorf("a bad line: %q: got %v", line, err)
		}
	}
	for _, line := range []string{"npm left@1.0.0", "npm @scope/left@1.0.0", "pip wheel==0.45.1"} {
		if !validLine(strings.Fields(line)) {
			t.Errorf("%q is rejected", line)
		}
	}
}
