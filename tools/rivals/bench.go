package rivals

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/foretime/foretime/tools/workspace"
)

// Rounds is the number of rounds of each comparison.
const Rounds = 5

// Bench is the environment of comparisons: the checkout that they build from, and a
// directory for their output.
type Bench struct {
	Root string
	Out  string
	Log  io.Writer // progress
}

// python is the system's interpreter, which has Debian's packages.
const python = "/usr/bin/python3"

// wheel returns the directory of a PyPI package installed by rivals.txt.
func (b *Bench) wheel(name string) string { return filepath.Join(b.Root, "out", "real", "pip", name) }

// prepare builds the tools, as a release does.
func (b *Bench) prepare(ctx context.Context) error {
	if err := os.MkdirAll(b.bin(), 0o755); err != nil {
		return err
	}
	for _, p := range []string{"allox-est", "chamtool", "deft", "edgeprof"} {
		if _, err := b.run(ctx, workspace.Simd(ctx), "go", "build", "-o", b.bin()+string(filepath.Separator), "./"+p+"/cmd/"+p); err != nil {
			return err
		}
	}
	_, err := b.run(ctx, nil, "go", "build", "-buildmode=c-shared", "-o", filepath.Join(b.bin(), "libchamtool.so"), "./chamtool/cmd/libchamtool")
	return err
}

func (b *Bench) bin() string { return filepath.Join(b.Out, "bin") }

// run runs a program at the root, with our binaries first on its path, and returns
// its stdout.
func (b *Bench) run(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	line := name + " " + strings.Join(args, " ")
	fmt.Fprintf(b.Log, "  %s\n", line)
	path := b.bin() + string(os.PathListSeparator) + os.Getenv("PATH")
	if ours, err := exec.LookPath(filepath.Join(b.bin(), name)); err == nil {
		name = ours
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its children end with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.Dir = b.Root
	cmd.Env = append(append(os.Environ(), "PATH="+path), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()+stdout.String()), "\n")
		return nil, fmt.Errorf("%s: %w: %s", line, err, lines[len(lines)-1])
	}
	return stdout.Bytes(), nil
}

// runJSON runs a program and decodes its stdout into v.
func (b *Bench) runJSON(ctx context.Context, v any, name string, args ...string) error {
	out, err := b.run(ctx, nil, name, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, v); err != nil {
		return fmt.Errorf("%s: its JSON: %w", name, err)
	}
	return nil
}

// version returns the version of a Python package.
func (b *Bench) version(ctx context.Context, env []string, pkg string) (string, error) {
	out, err := b.run(ctx, env, python, "-c", "import "+pkg+"; print("+pkg+".__version__)")
	return strings.TrimSpace(string(out)), err
}
