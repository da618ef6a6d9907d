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
		Example: `  edgeprof rank model.onnx
  edgeprof rank model.onnx --source file:boards.json`,
	}
	env.Companions = companions
	record := cli.NewRecord(env, root)
	root.AddCommand(
		newInspectCommand(env),
		newSynthCommand(env),
		newCalibrateCommand(env),
		newRankCommand(env, record),
		newLayersCommand(env),
		newTimeCommand(env, record),
		newServeCommand(env, record),
		newAgentCommand(env),
		newCollectCommand(env),
		newTrainCommand(env),
		newAdaptCommand(env),
		newPredictCommand(env),
	)
	return root
}
