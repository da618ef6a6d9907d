package cli

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/testkit/scripttest"
)

func TestScheduleScripts(t *testing.T) {
	scripttest.Run(t, testscript.Params{Dir: filepath.Join("testdata", "schedule")})
}
