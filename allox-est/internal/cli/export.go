package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/report"
	"github.com/foretime/foretime/allox-est/schedule"
	"github.com/foretime/foretime/shared/cli"
)

// newExportCommand returns "export": a journal for other programs.
func newExportCommand(env *cli.Env) *cobra.Command {
	var job jobFlags
	var format, user, out string
	var id int
	var arrival float64
	cmd := &cobra.Command{
		Use:     "export JOB.yaml",
		Short:   "Write what a journal says as a simulator record or as CSV",
		Example: `  allox-est export job.yaml --format csv --out runs.csv`,
		Args:    jobArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "record" && format != "csv" {
				return cli.Usagef("--format %s: want record or csv", format)
			}
			spec, err := job.spec(cmd, args)
			if err != nil {
				return err
			}
			j, err := job.newest(env, spec)
			if err != nil {
				return err
			}
			r := report.New(spec, job.devices, j, job.settings())
			write := func(w io.Writer) error { return r.WriteCSV(w, j) }
			if format == "record" {
				if err := r.Err(); err != nil {
					return err
				}
				r.Validate(j)
				record, warnings := r.Record(id, user, arrival)
				cli.Warn(env, warnings)
				write = func(w io.Writer) error { return schedule.WriteRecords(w, []schedule.Record{record}) }
			}
			return env.Write(out, write)
		},
	}
	job.register(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar(&format, "format", "record", "record (of the AlloX simulator) or csv (a row for each run)")
	flags.StringVar(&out, "out", "-", "file to write; - is standard output")
	flags.IntVar(&id, "id", 1, "record: number of the job")
	flags.StringVar(&user, "user", "default", "record: user, the simulator's queue")
	flags.Float64Var(&arrival, "arrival", 0, "record: arrival of the job in seconds")
	cli.First(cmd, "format", "out", "journal", "device", "user")
	return cmd
}
