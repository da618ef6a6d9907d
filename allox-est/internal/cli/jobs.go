package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/jobs"
	"github.com/foretime/foretime/shared/cli"
)

// newJobsCommand returns "jobs": example jobs for the estimator.
func newJobsCommand(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "Run an example job",
	}
	cmd.AddCommand(newBurnerCommand(env))
	for _, name := range jobs.Names() {
		cmd.AddCommand(newTrainCommand(env, name))
	}
	return cmd
}

// hardware holds the flags that {hw} expands to.
type hardware struct {
	cpu, gpu        bool
	threads, number int
}

func (h *hardware) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&h.cpu, "cpu", false, "run on the CPU")
	cmd.Flags().IntVar(&h.threads, "numThreads", 1, "threads on the CPU")
	cmd.Flags().BoolVar(&h.gpu, "gpu", false, "run on the GPU")
	cmd.Flags().IntVar(&h.number, "numGPUs", 1, "number of GPUs")
	cmd.MarkFlagsMutuallyExclusive("cpu", "gpu")
}

// newBurnerCommand returns "jobs burner": a job with exactly known times.
func newBurnerCommand(env *cli.Env) *cobra.Command {
	var hw hardware
	var burner jobs.Burner
	var setup, epoch, teardown time.Duration
	var spend string
	cmd := &cobra.Command{
		Use:   "burner",
		Short: "Run for exactly the given time",
		Long: `Run for exactly the given time, sleeping or computing on one thread (--numThreads
has no effect). A seed gives the same set-up, epoch and teardown times on every
machine.`,
		Example: `  allox-est jobs burner --epochs 20 --epoch 0.1s --noise 0.05`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if hw.gpu {
				return fmt.Errorf("%w: the burner does not run on a GPU", jobs.ErrDeviceUnavailable)
			}
			burner.Setup = setup.Seconds()
			burner.Epoch = epoch.Seconds()
			burner.Teardown = teardown.Seconds()
			machine := jobs.Sleeper
			switch spend {
			case "sleep":
			case "cpu":
				machine = jobs.Spinner
			default:
				return cli.Usagef("--spend %s: want sleep or cpu", spend)
			}
			err := burner.Run(cmd.Context(), machine(), env.Stdout)
			if errors.Is(err, jobs.ErrOption) {
				return &cli.UsageError{Err: err}
			}
			return err
		},
	}
	hw.register(cmd)
	flags := cmd.Flags()
	flags.IntVar(&burner.Epochs, "epochs", 10, "number of epochs")
	flags.DurationVar(&setup, "setup", time.Second, "time of the set-up")
	flags.DurationVar(&epoch, "epoch", 50*time.Millisecond, "time of an epoch")
	flags.DurationVar(&teardown, "teardown", 500*time.Millisecond, "time of the teardown")
	flags.Float64Var(&burner.Noise, "noise", 0, "relative standard deviation of set-up, epoch and teardown times")
	flags.Uint64Var(&burner.Seed, "seed", 1, "seed of the noise")
	flags.StringVar(&burner.Report, "report", "end", "when to print the time-writer report: end, epoch or none")
	cli.Values(cmd, "report", "end", "epoch", "none")
	flags.BoolVar(&burner.Lines, "lines", false, "print one line at the end of each epoch")
	flags.StringVar(&spend, "spend", "sleep", "what to do meanwhile: sleep or cpu")
	cli.Values(cmd, "spend", "sleep", "cpu")
	cli.First(cmd, "epochs", "epoch", "setup", "noise", "spend")
	return cmd
}

// newTrainCommand returns "jobs NAME": the training of a small network.
func newTrainCommand(env *cli.Env, name string) *cobra.Command {
	var hw hardware
	var options jobs.Options
	cmd := &cobra.Command{
		Use:     name,
		Short:   "Train the network " + name + " on generated images",
		Example: "  allox-est jobs " + name + " --epochs 5 --batches 4 --numThreads 2",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Threads, options.GPU = hw.threads, hw.gpu
			options.Out = env.Stdout
			err := jobs.Run(cmd.Context(), name, options)
			if errors.Is(err, jobs.ErrOption) {
				return &cli.UsageError{Err: err}
			}
			return err
		},
	}
	hw.register(cmd)
	flags := cmd.Flags()
	flags.IntVar(&options.Epochs, "epochs", 10, "number of epochs")
	flags.IntVar(&options.BatchesPerEpoch, "batches", 0, "batches per epoch (0: the job's own number)")
	flags.IntVar(&options.BatchSize, "batch-size", 0, "images per batch (0: the job's own number)")
	flags.Uint64Var(&options.Seed, "seed", 1, "seed of images, weights and order")
	flags.StringVar(&options.Dir, "out-dir", "", "existing `directory` for the checkpoint (default: the current one)")
	cli.First(cmd, "epochs", "batches", "batch-size", "numThreads", "seed")
	return cmd
}
