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
		newCalibrateCommand(env, record),
		newRankCommand(env, record),
		newLayersCommand(env, record),
		newTimeCommand(env, record),
		newSplitCommand(env),
		newServeCommand(env, record),
		newAgentCommand(env),
		newWorkerCommand(env),
		newCollectCommand(env),
		newTrainCommand(env),
		newTransferCommand(env),
		newAdaptCommand(env),
		newEvalCommand(env),
		newPredictCommand(env),
	)
	cli.Rename(root, map[string]string{
		"--node-label": "--set source.node-label=", "--load-window": "--set source.load-window=", "--max-age": "--set source.max-age=", "--source-timeout": "--set source.timeout=",
		"serve --refresh": "--set refresh=", "serve --watch": "--set watch=", "serve --rate": "--set limits.rate=", "serve --max-model-bytes": "--set limits.model-bytes=",
		"serve --max-graph-bytes": "--set limits.graph-bytes=", "serve --max-uploads": "--set limits.uploads=", "serve --upload-timeout": "--set limits.upload-time=",
		"collect --device_type": "--set device=", "collect --image_path": "--set images=", "collect --gpu_needed": "--set gpu-needed=", "collect --inference_mode": "--set inference-mode=",
		"collect --family": "--set family=", "collect --warmup": "--set warmup=", "collect --seed": "--set seed=", "collect --ort-library": "--set ort-library=",
	})
	return root
}
