package cli

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/testkit/scripttest"
)

func TestMain(m *testing.M) { scripttest.Main(m, "mirage", New, nil) }

// TestScripts runs the commands as a user types them.
func TestScripts(t *testing.T) {
	scripttest.Run(t, testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("SLURM", standIns(t))
		return nil
	}})
}

// standIns is a folder of shell scripts that answer as a Slurm would.
func standIns(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "slurm"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
