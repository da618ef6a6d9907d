package cli

import (
	"context"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli"
)

// TestScheduleScripts runs testdata/schedule as a user types it. The command
// runs in the test's process, so files are named by their whole path.
func TestScheduleScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/schedule",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"allox-est": func(ts *testscript.TestScript, neg bool, args []string) {
				env := cli.NewEnv(nil, ts.Stdout(), ts.Stderr())
				code := cli.Run(context.Background(), env, New(env), args)
				if (code != cli.ExitDone) != neg {
					ts.Fatalf("exit code %d", code)
				}
			},
		},
	})
}
