package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	shared "github.com/foretime/foretime/shared/cli"

	"github.com/foretime/foretime/mirage/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mirage": func() { shared.Main(cli.Root) }})
}

// TestScripts runs the commands as a user types them.
func TestScripts(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata/script"}) }
