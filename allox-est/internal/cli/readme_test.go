package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// TestReadme runs the command of the README's first screen.
func TestReadme(t *testing.T) { scripttest.Guide(t, "../../README.md", testscript.Params{}) }
