package cli

import (
	"flag"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli"
)

var update = flag.Bool("update", false, "write what commands print into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"chamtool": func() { cli.Main(New) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("FORETIME_DATA", os.Getenv("FORETIME_DATA"))
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "data":
				return os.Getenv("FORETIME_DATA") != "", nil
			case "race":
				return raced(), nil
			}
			_, err := exec.LookPath(cond)
			return err == nil, nil
		},
	})
}

// raced reports whether this binary was built with the race detector.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" })
}
