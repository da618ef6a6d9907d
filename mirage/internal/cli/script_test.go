package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mirage": func() { cli.Main(New) }})
}

// TestScripts runs the commands as a user types them.
func TestScripts(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata/script"}) }
