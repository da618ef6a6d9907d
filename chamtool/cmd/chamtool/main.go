// Command chamtool runs OpenMP programs under the tool library, reports and replays the
// logs, checks an environment, and runs a test program.
package main

import (
	"os"
	"runtime/debug"

	chamtool "github.com/foretime/foretime/chamtool/internal/cli"
	"github.com/foretime/foretime/shared/cli"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // logs are large, and little of the time goes into collection
	}
	cli.Main(chamtool.New)
}
