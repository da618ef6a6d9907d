package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
	"github.com/foretime/foretime/deft/simcuda"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// TestDriverScripts runs the commands that compile the hook and run programs
// under it. They share one cache; the loader finds the simulated driver, and
// $CLIENT, $DIRECT and $PLUGIN are the programs of package simcuda.
func TestDriverScripts(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs cc: install with apt-get install gcc")
	}
	cache := t.TempDir()
	products := filepath.Join(cache, "foretime", "deft")
	if err := os.MkdirAll(products, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(simcudatest.Products(products, time.Now()))
	checks, err := filepath.Abs("../../gpu/checks.py")
	if err != nil {
		t.Fatal(err)
	}
	var sessions atomic.Int32
	scripttest.Run(t, testscript.Params{
		Dir: "testdata/driver",
		Setup: func(e *testscript.Env) error {
			c := products
			built, err := simcuda.Build(t.Context(), c)
			if err != nil {
				return err
			}
			clients, err := simcudatest.BuildClients(t.Context(), c, built)
			if err != nil {
				return err
			}
			device := simcuda.Device{File: filepath.Join(e.WorkDir, "device")}
			e.Vars = append(e.Vars, device.Env(built)...)
			e.Setenv("SESSION", fmt.Sprintf("test-%d-%d", os.Getpid(), sessions.Add(1)))
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv("CHECKS", checks)
			e.Setenv("CLIENT", clients.Client)
			e.Setenv("DIRECT", clients.Direct)
			e.Setenv("PLUGIN", clients.Plugin)
			return nil
		},
	})
}
