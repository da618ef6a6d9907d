package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli/scripttest"
)

// TestExtend adds what the guide adds to a copy of the sources.
func TestExtend(t *testing.T) {
	scripttest.Guide(t, "../../docs/extend.md", testscript.Params{Setup: scripttest.Sources(t, "../..")})
}
