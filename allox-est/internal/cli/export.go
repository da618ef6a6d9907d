package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/jobspec"
	"github.com/foretime/foretime/allox-est/schedule"
	"github.com/foretime/foretime/shared/cli"
)

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
