package cli

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

// New returns the command deft.
func New(env *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "deft",
		Short: "Share one GPU between DNN jobs without hurting the urgent one",
	}
	root.AddCommand(
		// the hook
		newBuildHookCommand(env),
		newDoctorCommand(env),

		// the simulated driver and the live view
		newTopCommand(env),

		// experiments
		newRunCommand(env), newAloneCommand(env), newSweepCommand(env), newPredictCommand(env), newReportCommand(env), newPlotCommand(env),
	)
	return root
}
