package cli_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	edgeprof "github.com/foretime/foretime/edgeprof/internal/cli"
	"github.com/foretime/foretime/shared/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"edgeprof": func() { cli.Main(edgeprof.New) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
