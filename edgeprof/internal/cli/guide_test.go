package cli_test

import (
	"net"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli/scripttest"
)

// TestWhichBoard runs the guide with a short calibration, on a port that is free.
func TestWhichBoard(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl: install with apt-get install curl")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	scripttest.Guide(t, "../../docs/which-board.md", ownHome,
		"calibrate --out", "calibrate --runs 1 --size 0.1 --runtime go --out",
		"edgeprof serve", "edgeprof serve --set source.timeout=1m",
		"127.0.0.1:7001", l.Addr().String())
}

// TestReadme runs the README's first success.
func TestReadme(t *testing.T) {
	scripttest.Guide(t, "../../README.md", ownHome)
}

// ownHome keeps calibrations of the one who tests out of the test.
var ownHome = testscript.Params{Setup: func(env *testscript.Env) error {
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("XDG_CONFIG_HOME", env.WorkDir)
	return nil
}}
