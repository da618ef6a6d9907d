// Command chamtool works with what the tool library leaves behind, and tries
// the library out: it measures models on logs, replays logs, simulates
// balancing, shows and plots models, trains networks, checks an environment,
// and runs a host program.
package main

import (
	"github.com/foretime/foretime/shared/cli"
	"github.com/spf13/cobra"
)

func main() { cli.Main(root) }

func root(env *cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "chamtool",
		Short: "Task run times of Chameleon programs: measured, learned, and turned into balanced work",
	}
	c.AddCommand(evalCommand(env), replayCommand(env), simulateCommand(env), displayCommand(env), plotCommand(env),
		trainCommand(env), doctorCommand(env), hostCommand(env))
	return c
}
