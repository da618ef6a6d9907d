package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli/scripttest"
	"github.com/foretime/foretime/shared/slurmtest"
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
	}})
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

// TestExtend adds what the guide adds to a copy of the sources.
func TestExtend(t *testing.T) {
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH", "GOTOOLCHAIN").Output()
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"GOWORK": "off", "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&vars); err != nil {
		t.Fatal(err)
	}
	shared, err := filepath.Abs("../../../shared")
	if err != nil {
		t.Fatal(err)
	}
	scripttest.Guide(t, "../../docs/extend.md", testscript.Params{Setup: func(env *testscript.Env) error {
		for name, value := range vars {
			env.Setenv(name, value)
		}
		if err := os.Symlink(shared, filepath.Join(env.WorkDir, "shared")); err != nil {
			return err
		}
		return os.CopyFS(filepath.Join(env.WorkDir, "allox-est"), os.DirFS("../.."))
	}})
}
