package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/runner"
	"github.com/foretime/foretime/shared/cli"
)

// newGuardCommand returns "guard", which allox-est starts with every run.
func newGuardCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "guard SCRATCH CGROUP",
		Short:  "End a run if its allox-est is killed",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		Run:    func(_ *cobra.Command, args []string) { runner.Guard(env.Stdin, args[0], args[1]) },
	}
}

// guardCommand returns the command line of this program as a guard.
func guardCommand() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, "guard"}
}
