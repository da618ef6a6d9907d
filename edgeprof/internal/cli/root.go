package cli

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

// New returns the command edgeprof.
func New(env *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "edgeprof",
		Short: "Predict on which edge device an ONNX model runs fastest",
	}
	root.AddCommand(
		NewInspectCommand(env),
		NewSynthCommand(env),
		NewCalibrateCommand(env),
		NewRankCommand(env),
		NewTimeCommand(env),
		NewSplitCommand(env),
		NewServeCommand(env),
		NewAgentCommand(env),
		NewWorkerCommand(env),
		NewCollectCommand(env),
		NewTrainCommand(env),
		NewImportJoblibCommand(env),
		NewEvalCommand(env),
		NewPredictCommand(env),
		NewBoostTrainCommand(env),
		NewBoostPredictCommand(env),
	)
	return root
}
