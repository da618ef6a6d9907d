package hook_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foretime/foretime/deft/internal/session"
)

// A program whose session lies on a full file system, without memory of its own, says
// so in a line and goes on without; so does one whose simulated device has no room.
func TestFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("skipped: a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	w := newWorld(t, session.Options{})
	path := filepath.Join(dir, "x.session")
	whole, err := os.ReadFile(w.session.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:4096], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, session.Size); err != nil {
		t.Fatal(err)
	}
	cmd := w.command(w.clients.Client, "v2", "10")
	cmd.Env = append(cmd.Env, "DEFT_SESSION="+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil || string(out) != "launches 10\n" || !strings.Contains(stderr.String(), "its file system is full; going on without") {
		t.Errorf("%v, %q, %q", err, out, stderr.String())
	}
	cmd = w.command(w.clients.Client, "v2", "10")
	cmd.Env = append(cmd.Env, "SIMCUDA_DEVICE="+filepath.Join(dir, "device"))
	out, err := cmd.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("a device without room: %v, %s", err, out)
	}
}
