package cli_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/deft/internal/cli"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

func TestMain(m *testing.M) { scripttest.Main(m, "deft", cli.New, nil) }

// TestScripts runs the commands as a user types them.
func TestScripts(t *testing.T) { scripttest.Run(t, testscript.Params{}) }
