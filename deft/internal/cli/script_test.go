package cli_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	shared "github.com/foretime/foretime/shared/cli"

	"github.com/foretime/foretime/deft/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"deft": func() { shared.Main(cli.New) }})
}

// TestScripts runs the commands as a user types them.
func TestScripts(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata/script"}) }
