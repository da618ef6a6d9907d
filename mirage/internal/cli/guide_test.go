package cli

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// TestRealExtend adds what the guide adds to a copy of the sources.
func TestRealExtend(t *testing.T) {
	scripttest.Guide(t, "../../docs/extend.md", testscript.Params{Setup: scripttest.Sources(t, "../..")})
}

// TestWhen asks a Slurm of stand-ins, and a log.
func TestWhen(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the scripts run the same commands on shorter logs")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl: install with apt-get install curl")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	slurm := standIns(t)
	scripttest.Guide(t, "../../docs/when.md", testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("PATH", slurm+string(os.PathListSeparator)+env.Getenv("PATH"))
		return nil
	}}, "127.0.0.1:7002", l.Addr().String())
}

// TestFirstSuccess does what the README shows first.
func TestFirstSuccess(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the scripts run the same commands on shorter logs")
	}
	scripttest.Guide(t, "../../README.md", testscript.Params{})
}
