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
		Example: `  deft exec --priority 1 -- python3 serve.py
  deft run -f input.json --device sim --policy priority`,
	}
	root.AddCommand(
		// the hook
		newBuildHookCommand(env),
		newDoctorCommand(env),

		// the user's programs, and the owner of their session
		newExecCommand(env), newDaemonCommand(env), newCtlCommand(env),

		// experiments
		newRunCommand(env), newPairCommand(env), newPlotCommand(env),
	)
	return root
}
