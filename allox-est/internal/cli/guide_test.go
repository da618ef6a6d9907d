package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/testkit/scripttest"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// howLong is a guide whose commands of Slurm are stand-ins in TestHowLong and real
// in TestRealHowLong.
const howLong = "../../docs/how-long.md"

func TestHowLong(t *testing.T) {
	standIns, err := filepath.Abs(filepath.Join("testdata", "slurm"))
	if err != nil {
		t.Fatal(err)
	}
	scripttest.Guide(t, howLong, testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("PATH", standIns+string(os.PathListSeparator)+env.Getenv("PATH"))
		return nil
	}}, "sleep 0.5", "sleep 0.2", "sleep 0.1", "sleep 0.04")
}

func TestRealHowLong(t *testing.T) {
	byName(t)
	slurmtest.Need(t)
	command(t)
	c := slurmtest.Start(t)
	scripttest.Guide(t, howLong, testscript.Params{WorkdirRoot: c.Dir, Setup: func(env *testscript.Env) error {
		env.Vars = append(env.Vars, c.Env()...)
		return nil
	}})
}

// TestRealExtend adds what the guide adds to a copy of the sources.
func TestRealExtend(t *testing.T) {
	scripttest.Guide(t, "../../docs/extend.md", testscript.Params{Setup: scripttest.Sources(t, "../..")})
}
