package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/runner"
	"github.com/foretime/foretime/shared/cli"
)

// newGuardCommand returns the hidden command that stands beside every run.
func newGuardCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "guard SCRATCH CGROUP",
		Short:  "End a run whose allox-est was killed",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		Run:    func(_ *cobra.Command, args []string) { runner.Guard(env.Stdin, args[0], args[1]) },
	}
}

// guardCommand is this program as the guard of a run.
func guardCommand() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, "guard"}
}
