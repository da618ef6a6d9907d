// Command chamtool works with what the tool library leaves behind, and tries
// the library out: it measures models on logs, replays logs, simulates
// balancing, shows and plots models, checks an environment,
// and runs a host program.
package main

import (
	chamtool "github.com/foretime/foretime/chamtool/internal/cli"
	"github.com/foretime/foretime/shared/cli"
)

func main() { cli.Main(chamtool.New) }
