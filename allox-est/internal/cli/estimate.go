package cli

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/report"
	"github.com/foretime/foretime/shared/cli"
)

// newEstimateCommand returns "estimate": a report from a journal.
func newEstimateCommand(env *cli.Env) *cobra.Command {
	var job jobFlags
	var answer cli.Output
	cmd := &cobra.Command{
		Use:   "estimate JOB.yaml | estimate --epochs N -- COMMAND ... {epochs} ... | estimate -- COMMAND ...",
		Short: "Estimate from the runs in a journal, without starting any",
		Example: `  allox-est estimate job.yaml --method ratio
  allox-est estimate --epochs 500 --journal train.jsonl --plot train.svg -- python3 train.py --epochs {epochs}`,
		Args: jobArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() == 0 && !cmd.Flags().Changed("epochs") {
				return (&following{env: env, said: map[string]bool{}, job: job, answer: answer}).expectNext(cmd, args)
			}
			_, j, r, err := job.report(env, cmd, args)
			if err != nil {
				return err
			}
			return job.printReport(env, &answer, r, j)
		},
	}
	job.register(cmd)
	job.registerMethod(cmd)
	answer.Flags(cmd, report.Report{})
	answer.PlotFlag(cmd, "the time of each epoch on the first device")
	cli.First(cmd, "epochs", "device", "journal", "method")
	return cmd
}

// report returns the report of a job from its journal, compared with the whole runs there.
func (f *jobFlags) report(env *cli.Env, cmd *cobra.Command, args []string) (*jobspec.Spec, *journal.Journal, *report.Report, error) {
	spec, err := f.spec(env, cmd, args)
	if err != nil {
		return nil, nil, nil, err
	}
	j, err := f.newest(env, spec)
	if err != nil {
		return nil, nil, nil, err
	}
	r := report.New(spec, f.devices, j, f.settings())
	r.Validate(j)
	return spec, j, r, f.ours(spec, j)
}
