package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInstall runs install.sh in a tree of its own, with package managers that only
// print.
func TestInstall(t *testing.T) {
	root := t.TempDir()
	script, err := os.ReadFile("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("tools/install.sh", string(script))
	for _, name := range []string{"apt-get", "python3", "sudo"} {
		write("bin/"+name, "#!/bin/sh\n")
	}
	write("bin/python3", "#!/bin/sh\n[ -z \"$7\" ] || mkdir -p \"$7\"\n") // after --target
	write("more.txt", "apt python3\napt wrk\n")
	install := func(packages string, files ...string) (string, error) {
		write("m/real.txt", packages)
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "tools/install.sh"), files...)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return strings.ReplaceAll(strings.ReplaceAll(string(out), root, "ROOT"), "sudo --preserve-env=DEBIAN_FRONTEND ", ""), err
	}
	packages := "# tools\napt python3\n# why\napt python3\n\napt munge # and why\npip wheel==0.45.1\n"
	got, err := install(packages, "more.txt")
	want := `apt-get update
apt-get install -y --no-install-recommends python3 wrk munge
python3 -m pip install --only-binary=:all: --no-deps --target ROOT/out/real/pip/wheel==0.45.1.part wheel==0.45.1
`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := install(packages, "more.txt"); strings.Contains(got, "pip install") || err != nil {
		t.Errorf("a package that is there is installed again: %v, %s", err, got)
	}
	if got, err := install("", "none.txt"); err == nil || !strings.Contains(got, "none.txt") {
		t.Errorf("a missing file: %v, %s", err, got)
	}
	for _, line := range []string{"yum x", "apt", "npm left@1.0.0", "pip wheel", "pip wheel==", "pip ==1"} {
		if got, err := install("\n" + line + "\n"); err == nil || !strings.HasPrefix(got, "m/real.txt:2: want ") {
			t.Errorf("%q: %v, %s", line, err, got)
		}
	}
	write("bin/apt-get", "#!/bin/sh\necho E: no such package\nexit 100\n")
	if got, err := install("apt nonesuch\n"); err == nil || !strings.HasSuffix(got, "E: no such package\n") {
		t.Errorf("a failing package manager: %v, %s", err, got)
	}
}

func TestCheckRejectsAnUnknownStep(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "./check.sh", "nonesuch").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `no step is called "nonesuch"; the steps are: gofmt layers `) {
		t.Errorf("%v, %s", err, out)
	}
}

// TestCheckCountsFindingsOnly runs a step of check.sh with a go command of its own: what go
// reports on stderr, such as downloads on a bare machine, is no finding, unless it fails.
func TestCheckCountsFindingsOnly(t *testing.T) {
	script, err := os.ReadFile("check.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, tidy string
		ok         bool
		shown      string
	}{
		{"downloads", "echo go: downloading x >&2", true, ""},
		{"a finding", "echo diff", false, "m: diff"},
		{"a failure", "echo no network >&2; exit 1", false, "no network"},
	} {
		root := t.TempDir()
		for name, text := range map[string]string{
			"tools/check.sh": string(script),
			"bin/go":         "#!/bin/sh\ncase $1 in\nlist) echo " + root + "/m ;;\nmod) " + tt.tidy + " ;;\nesac\n",
			"m/go.mod":       "",
		} {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "tools/check.sh"), "tidy")
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if (err == nil) != tt.ok || !strings.Contains(string(out), tt.shown) || tt.ok && strings.Contains(string(out), "downloading") {
			t.Errorf("%s: %v, %s", tt.name, err, out)
		}
	}
}
