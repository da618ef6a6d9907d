package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli"
)

// TestMain makes the command a program that scripts execute: estimating starts
// jobs, and the example jobs are the command itself.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"allox-est": func() { cli.Main(New) }})
}

// TestScripts runs testdata/script as a user types it.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else a second for each process
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
