package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/jobspec"
	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/allox-est/report"
	"github.com/foretime/foretime/allox-est/schedule"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

// newEstimateCommand returns "estimate": a report from a journal.
func newEstimateCommand(env *cli.Env) *cobra.Command {
	var job jobFlags
	var answer cli.Output
	var kind string
	cmd := &cobra.Command{
		Use:   "estimate JOB.yaml | estimate --epochs N -- COMMAND ... {epochs} ...",
		Short: "Estimate again from the runs in a journal, without starting any",
		Example: `  allox-est estimate job.yaml --method ratio
  allox-est estimate --epochs 500 --journal train.jsonl --plot train.svg -- python3 train.py --epochs {epochs}`,
		Args: jobArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, j, r, err := job.report(env, cmd, args)
			if err != nil {
				return err
			}
			draw, ok := map[string]func(*journal.Journal, string) (chart.Chart, error){"epochs": r.EpochPlot, "progress": r.ProgressPlot}[kind]
			if !ok {
				return cli.Usagef("--kind %s: want epochs or progress", kind)
			}
			if err := answer.Draw(func() (chart.Chart, error) { return draw(j, job.devices[0]) }); err != nil {
				return err
			}
			if err := r.Err(); err != nil {
				return err
			}
			return printReport(env, &answer, r)
		},
	}
	job.register(cmd.Flags())
	answer.Flags(cmd)
	answer.PlotFlag(cmd, "the runs on the first device")
	cmd.Flags().StringVar(&kind, "kind", "epochs", "what --plot shows: epochs (the time of each) or progress (the estimate beside whole runs)")
	cli.First(cmd, "epochs", "device", "journal", "method")
	return cmd
}

// report reports on a job from its journal, beside the whole runs there.
func (f *jobFlags) report(env *cli.Env, cmd *cobra.Command, args []string) (*jobspec.Spec, *journal.Journal, *report.Report, error) {
	spec, err := f.spec(cmd, args)
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

// newExportCommand returns "export": a job as the AlloX simulator takes it.
func newExportCommand(env *cli.Env) *cobra.Command {
	var job jobFlags
	var out string
	var as schedule.Record
	cmd := &cobra.Command{
		Use:     "export JOB.yaml",
		Short:   "Write what a journal says as a record of the AlloX simulator",
		Example: `  allox-est export job.yaml --user alice --out job.txt`,
		Args:    jobArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, _, r, err := job.report(env, cmd, args)
			if err == nil {
				err = r.Err()
			}
			if err != nil {
				return err
			}
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			w, err := schedule.ReadReport(bytes.NewReader(text), job.journal)
			if err != nil {
				return err
			}
			if len(w.Jobs) == 0 {
				return w.Diagnostics[0]
			}
			cli.Warn(env, w.Warnings)
			as.Name, as.Iterations, as.On = spec.Name, spec.Epochs, w.Jobs[0].On
			as.On[schedule.CPU].Units = float64(spec.Device(jobspec.CPU).Threads)
			as.On[schedule.GPU].Units = float64(spec.Device(jobspec.GPU).Count)
			for _, d := range []schedule.Device{schedule.CPU, schedule.GPU} {
				if on := r.Devices[d.String()]; on != nil && on.Estimate != nil {
					as.On[d].Memory = float64(on.Conditions.PeakBytes) / (1 << 30)
				}
			}
			return env.Write(out, func(w io.Writer) error { return schedule.WriteRecords(w, []schedule.Record{as}) })
		},
	}
	job.register(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar(&out, "out", "-", "file to write; - is standard output")
	flags.IntVar(&as.ID, "id", 1, "number of the job")
	flags.StringVar(&as.User, "user", "default", "the simulator's queue")
	flags.Float64Var(&as.Arrival, "arrival", 0, "arrival of the job in seconds")
	cli.First(cmd, "out", "journal", "device", "user")
	return cmd
}
