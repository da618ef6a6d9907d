package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/launch"
	"github.com/foretime/foretime/shared/cli"
)

// newGuardCommand returns "guard", which allox-est starts with every sample.
func newGuardCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "guard SCRATCH",
		Short:  "End a run if its allox-est is killed",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		Run:    func(_ *cobra.Command, args []string) { launch.Guard(env.Stdin, args[0]) },
	}
}

// newRelayCommand returns "relay", which allox-est starts with the user's own job.
func newRelayCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "relay",
		Short:  "Pass on what a job prints, also if its allox-est is killed",
		Hidden: true,
		Args:   cobra.NoArgs,
		Run:    func(*cobra.Command, []string) { launch.Relay(env.Stderr) },
	}
}

// helper returns the command line of this program as a guard or a relay.
func helper(name string) []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, name}
}
