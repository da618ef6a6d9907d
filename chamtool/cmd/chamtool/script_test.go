package main

import (
	"flag"
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what commands print into the scripts")

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"chamtool": main}) }

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("FORETIME_DATA", os.Getenv("FORETIME_DATA"))
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "data" {
				return os.Getenv("FORETIME_DATA") != "", nil
			}
			_, err := exec.LookPath(cond)
			return err == nil, nil
		},
	})
}
