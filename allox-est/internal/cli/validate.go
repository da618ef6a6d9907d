package cli

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

// newValidateCommand returns "validate": run, then whole runs beside it.
func newValidateCommand(env *cli.Env) *cobra.Command {
	var job jobFlags
	var sample sampleFlags
	var full int
	cmd := &cobra.Command{
		Use:   "validate JOB.yaml | validate --epochs N -- COMMAND ... {epochs} ...",
		Short: "Sample a job, run it whole, and show how far off the estimate was",
		Args:  jobArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if full < 1 {
				return cli.Usagef("--full %d: want at least 1", full)
			}
			return sampled(cmd, args, env, &job, &sample, full)
		},
	}
	job.register(cmd.Flags())
	sample.register(cmd.Flags())
	cmd.Flags().IntVar(&full, "full", 1, "whole runs on each device")
	return cmd
}
