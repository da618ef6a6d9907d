package release_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/release"
	"github.com/foretime/foretime/tools/workspace"
)

// checkout creates a repository of two modules in which hello replaces shared.
func checkout(t *testing.T) *workspace.Workspace {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE":                 "do as you like\n",
		"go.work":                 "go 1.26.0\n\nuse (\n\t./hello\n\t./shared\n)\n",
		"shared/go.mod":           "module github.com/foretime/foretime/shared\n\ngo 1.26.0\n",
		".gitignore":              "made\n",
		"hello/hello.go":          "package hello\n\n//go:generate touch made\n",
		"shared/word/word.go":     "package word\n\nconst Hello = \"hello\"\n",
		"hello/go.mod":            "module github.com/foretime/foretime/hello\n\ngo 1.26.0\n\nrequire github.com/foretime/foretime/shared v0.0.0\n\nreplace github.com/foretime/foretime/shared => ../shared\n",
		"hello/cmd/hello/main.go": "package main\n\nimport (\n\t\"runtime/debug\"\n\n\t\"github.com/foretime/foretime/shared/word\"\n)\n\nfunc main() {\n\tinfo, _ := debug.ReadBuildInfo()\n\tprintln(word.Hello, info.Main.Version)\n}\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, root, "init", "--quiet", "--initial-branch=main")
	git(t, root, "config", "user.name", "A Maintainer")
	git(t, root, "config", "user.email", "maintainer@example.org")
	git(t, root, "add", ".")
	git(t, root, "commit", "--quiet", "--message", "all")
	ws, err := workspace.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return output(t, dir, "git", args...)
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestInstallOfATag(t *testing.T) {
	ws := checkout(t)
	bin := t.TempDir()
	if err := release.Tag(t.Context(), ws.Root, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	env, err := release.Publish(t.Context(), ws, "v0.1.0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range append(env, "GOWORK=off", "GOBIN="+bin, "GOFLAGS=-modcacherw") { // built like the rest
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	output(t, bin, "go", "install", ws.Modules[0].Path+"/cmd/hello@v0.1.0")
	if got := output(t, bin, filepath.Join(bin, "hello")); got != "hello v0.1.0" {
		t.Errorf("the installed command says %q", got)
	}
	shared := ws.Modules[1].Path
	bill, err := release.ReadBill(filepath.Join(bin, "hello"), "v0.1.0", map[string]release.Licence{shared: {ID: "MIT"}})
	if err != nil {
		t.Fatal(err)
	}
	want := release.Component{
		Type: "library", Name: shared, Version: "v0.1.0", PURL: "pkg:golang/" + shared + "@v0.1.0", Licences: []release.Granted{{Expression: "MIT"}},
	}
	if diff := cmp.Diff(want, bill.Components[len(bill.Components)-1]); diff != "" {
		t.Errorf("what the command is made of (- want):\n%s", diff)
	}
}

// TestTag checks that main keeps its replace, that only the release commit lacks it
// and builds as it is, and that each tag is on the right commit.
func TestTag(t *testing.T) {
	ws := checkout(t)
	if err := release.Tag(t.Context(), ws.Root, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	main, released := git(t, ws.Root, "rev-parse", "main"), git(t, ws.Root, "rev-parse", "v0.1.0")
	for tag, want := range map[string]string{"HEAD": main, "shared/v0.1.0": main, "hello/v0.1.0": released, "v0.1.0^": main} {
		if got := git(t, ws.Root, "rev-parse", tag); got != want {
			t.Errorf("%s is %s, want %s", tag, got, want)
		}
	}
	if got := git(t, ws.Root, "diff", "--name-only", "main", "v0.1.0"); got != "hello/go.mod\nhello/go.sum\nhello/made" {
		t.Errorf("the release changes %q", got)
	}
	if mod := git(t, ws.Root, "show", "v0.1.0:hello/go.mod"); strings.Contains(mod, "replace") || !strings.Contains(mod, "shared v0.1.0") {
		t.Errorf("go.mod of the release:\n%s", mod)
	}
}

func TestTagRefuses(t *testing.T) {
	ws := checkout(t)
	for _, version := range []string{"", "0.1.0", "v0.1", "v0.1.0+build"} {
		if err := release.Tag(t.Context(), ws.Root, version); err == nil {
			t.Errorf("took the version %q", version)
		}
	}
	if err := os.WriteFile(filepath.Join(ws.Root, "hello", "new.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := release.Tag(t.Context(), ws.Root, "v0.1.0"); !errors.Is(err, release.ErrChanged) {
		t.Errorf("took a changed checkout: %v", err)
	}
	if tags := git(t, ws.Root, "tag"); tags != "" {
		t.Errorf("left the tags %s", tags)
	}
}

// TestTagFails checks that an existing tag is kept, and that all tags made before
// the error are removed.
func TestTagFails(t *testing.T) {
	ws := checkout(t)
	git(t, ws.Root, "tag", "v0.1.0")
	if err := release.Tag(t.Context(), ws.Root, "v0.1.0"); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("got %v", err)
	}
	if tags := git(t, ws.Root, "tag"); tags != "v0.1.0" {
		t.Errorf("left the tags %s", tags)
	}
	if trees := git(t, ws.Root, "worktree", "list"); strings.Contains(trees, "\n") {
		t.Errorf("left the work trees %s", trees)
	}
}
