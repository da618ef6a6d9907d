package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/jobs"
	"github.com/foretime/foretime/shared/cli"
)

// newTrainCommand returns "jobs NAME": a network that learns its classes.
func newTrainCommand(env *cli.Env, name string) *cobra.Command {
	var hw hardware
	var options jobs.Options
	cmd := &cobra.Command{
		Use:     name,
		Short:   "Train the network " + name + " on images drawn from the seed, or on yours",
		Example: "  allox-est jobs " + name + " --epochs 5 --batches 4 --numThreads 2",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Threads, options.GPU, options.Out = hw.threads, hw.gpu, env.Stdout
			err := jobs.Run(cmd.Context(), name, options)
			if errors.Is(err, jobs.ErrOption) {
				return &cli.UsageError{Err: err}
			}
			return err
		},
	}
	hw.register(cmd)
	flags := cmd.Flags()
	flags.IntVar(&options.Epochs, "epochs", 10, "epochs")
	flags.IntVar(&options.BatchesPerEpoch, "batches", 0, "batches an epoch; 0 for the job's own")
	flags.IntVar(&options.BatchSize, "batch-size", 0, "images a batch; 0 for the job's own")
	flags.Uint64Var(&options.Seed, "seed", 1, "seed of images, weights and order")
	flags.StringVar(&options.Data, "data", "", "folder with MNIST's files (mlp, lenet) or CIFAR-10's binary version (alexnet, googlenet), as published (default: images drawn from the seed)")
	flags.StringVar(&options.Dir, "dir", "", "existing folder for the checkpoint (default: the current one)")
	cli.First(cmd, "epochs", "batches", "batch-size", "numThreads", "seed")
	return cmd
}
