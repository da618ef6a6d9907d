package hook_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
	"github.com/foretime/foretime/deft/simcuda"
)

// built is the folder of this test run's products; see TestMain.
var built string

func TestMain(m *testing.M) {
	if os.Getenv("DEFT_TEST_OWNER") != "" {
		if err := runOwner(); err != nil {
			fmt.Fprintln(os.Stderr, "owner:", err)
			os.Exit(1)
		}
		return
	}
	dir, err := os.MkdirTemp("", "deft-hook-")
	if err != nil {
		panic(err)
	}
	built = dir
	keep := simcudatest.Products(dir, time.Now())
	code := m.Run()
	keep()
	os.RemoveAll(dir)
	os.Exit(code)
}

// driverFlags bind the driver's references to its own functions, as in the
// real driver: no library that is loaded before it stands between.
var driverFlags = []string{"-Wl,-Bsymbolic"}

// world is a simulated device, a session and the hook for one test.
type world struct {
	t       testing.TB
	lib     string
	driver  simcuda.Built
	clients simcudatest.Clients
	device  simcuda.Device
	session *session.Session
	beats   bool // this process is the session's owner
}

func needCompiler(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs cc: install with apt-get install gcc")
	}
	return built
}

func newWorld(t testing.TB, o session.Options) *world {
	t.Helper()
	c := needCompiler(t)
	w := &world{t: t, device: simcuda.Device{File: filepath.Join(t.TempDir(), "device")}}
	var err error
	if w.lib, err = hook.Build(t.Context(), c, "-Werror"); err == nil {
		w.driver, err = simcuda.Build(t.Context(), c, driverFlags...)
	}
	if err == nil {
		w.clients, err = simcudatest.BuildClients(t.Context(), c, w.driver)
	}
	if err == nil {
		w.session, err = session.Create(filepath.Join(t.TempDir(), "session"), o)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.beats = true
	t.Cleanup(func() { w.session.Close() })
	return w
}

// command is a program under the hook, in the session, on the device.
func (w *world) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+w.lib, "DEFT_SESSION="+w.session.Path())
	cmd.Env = append(cmd.Env, w.device.Env(w.driver)...)
	return cmd
}

// run runs a command to its end and returns its stdout.
func (w *world) run(cmd *exec.Cmd) string {
	w.t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%s: %v: %s%s", strings.Join(cmd.Args, " "), err, stderr.String(), out)
	}
	if stderr.Len() > 0 {
		w.t.Logf("%s: %s", strings.Join(cmd.Args, " "), stderr.String())
	}
	return string(out)
}

// reap returns the clients that have left since the last call.
func (w *world) reap() []session.Client {
	w.t.Helper()
	return w.session.Reap()
}
