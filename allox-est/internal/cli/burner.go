package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/burner"
	"github.com/foretime/foretime/allox-est/jobs"
	"github.com/foretime/foretime/shared/cli"
)

// newBurnerCommand returns "jobs burner": a job of exactly known times.
func newBurnerCommand(env *cli.Env) *cobra.Command {
	var hw hardware
	var config burner.Config
	var spend string
	cmd := &cobra.Command{
		Use:   "burner",
		Short: "Spend exactly the time it is told to",
		Long: `Spend exactly the time it is told to, asleep or computing on one thread,
whatever --numThreads says. Set-up, epochs and teardown are the same for a seed
on every machine.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if hw.gpu {
				return fmt.Errorf("%w: the burner has no code for a GPU", jobs.ErrDeviceUnavailable)
			}
			var machine burner.Machine
			switch spend {
			case "sleep":
				machine = burner.Sleeper()
			case "cpu":
				machine = burner.Spinner()
			default:
				return cli.Usagef("--spend %s: want sleep or cpu", spend)
			}
			err := burner.Run(cmd.Context(), config, machine, env.Stdout)
			if errors.Is(err, burner.ErrConfig) {
				return &cli.UsageError{Err: err}
			}
			return err
		},
	}
	hw.register(cmd)
	flags := cmd.Flags()
	flags.IntVar(&config.Epochs, "epochs", 10, "epochs")
	flags.Float64Var(&config.Setup, "setup", 1, "seconds of set-up")
	flags.Float64Var(&config.Epoch, "epoch", 0.05, "seconds of an epoch")
	flags.Float64Var(&config.Teardown, "teardown", 0.5, "seconds of teardown")
	flags.Float64Var(&config.Noise, "noise", 0, "relative standard deviation of each of them")
	flags.Float64SliceVar(&config.WarmUp, "warm-up", nil, "factors of the first epochs")
	flags.Float64Var(&config.Drift, "drift", 0, "relative growth of an epoch over --span epochs")
	flags.IntVar(&config.Span, "span", 0, "epochs over which the drift is spread (default: --epochs)")
	flags.IntVar(&config.CheckpointEvery, "checkpoint-every", 0, "epochs from one checkpoint to the next; 0 for none")
	flags.Float64Var(&config.CheckpointFactor, "checkpoint-factor", 2, "factor of an epoch with a checkpoint")
	flags.Float64Var(&config.RareShare, "rare-share", 0, "share of epochs, at random, that take --rare-factor")
	flags.Float64Var(&config.RareFactor, "rare-factor", 5, "factor of those")
	flags.IntVar(&config.BurstFrom, "burst-from", 0, "epoch with which a burst begins; 0 for none")
	flags.IntVar(&config.BurstEpochs, "burst-epochs", 0, "epochs of the burst")
	flags.Float64Var(&config.BurstFactor, "burst-factor", 3, "factor of those")
	flags.Uint64Var(&config.Seed, "seed", 1, "seed of noise and rare epochs")
	flags.StringVar(&config.Report, "report", "end", "when to print the time-writer report: end, epoch or none")
	flags.BoolVar(&config.Lines, "lines", false, "print a line at the end of each epoch")
	flags.StringVar(&config.Checkpoint, "checkpoint", "", "folder to keep the number of the last epoch in, and to go on from")
	flags.StringVar(&spend, "spend", "sleep", "how to spend the time: sleep or cpu")
	return cmd
}
