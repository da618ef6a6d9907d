package cli

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/report"
	"github.com/foretime/foretime/shared/cli"
)

// newEstimateCommand returns "estimate": a report from a journal.
func newEstimateCommand(env *cli.Env) *cobra.Command {
	var job jobFlags
	var answer cli.Output
	cmd := &cobra.Command{
		Use:   "estimate JOB.yaml | estimate --epochs N -- COMMAND ... {epochs} ...",
		Short: "Estimate again from the runs in a journal, without starting any",
		Args:  jobArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := job.spec(cmd, args)
			if err != nil {
				return err
			}
			j, err := job.newest(env, spec)
			if err != nil {
				return err
			}
			r := report.New(spec, job.devices, j, job.settings())
			r.Validate(j)
			if err := r.Err(); err != nil {
				return err
			}
			return printReport(env, &answer, r)
		},
	}
	job.register(cmd.Flags())
	answer.Flags(cmd)
	cli.First(cmd, "epochs", "device", "journal", "method")
	return cmd
}
