package cli

import (
	"github.com/spf13/cobra"

	shared "github.com/foretime/foretime/shared/cli"
)

// Root returns the command tree of mirage.
func Root(env *shared.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "mirage",
		Short: "when should a service on a batch queue submit its successor?",
	}
	root.AddCommand(
		traceCommand(env),
		simulateCommand(env),
		explainCommand(env),
		calibrateCommand(env),
		generateCommand(env),
		trainCommand(env),
		validateCommand(env),
		provisionCommand(env),
	)
	return root
}
