package cli

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/report"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

// newPlotCommand returns "plot": a picture of a journal.
func newPlotCommand(env *cli.Env) *cobra.Command {
	var job jobFlags
	var kind, out string
	cmd := &cobra.Command{
		Use:   "plot JOB.yaml --out FILE.svg",
		Short: "Draw the time of each epoch, or the estimate beside whole runs",
		Args:  jobArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if kind != "epochs" && kind != "progress" {
				return cli.Usagef("--kind %s: want epochs or progress", kind)
			}
			spec, err := job.spec(cmd, args)
			if err != nil {
				return err
			}
			if len(job.devices) > 1 && !cmd.Flags().Changed("device") {
				job.devices = job.devices[:1]
			}
			if len(job.devices) != 1 {
				return cli.Usagef("--device: a plot shows one")
			}
			j, err := job.newest(env, spec)
			if err != nil {
				return err
			}
			r := report.New(spec, job.devices, j, job.settings())
			draw := r.EpochPlot
			if kind == "progress" {
				draw = r.ProgressPlot
			}
			picture, err := draw(j, job.devices[0])
			if err != nil {
				return err
			}
			return chart.Save(out, picture)
		},
	}
	job.register(cmd.Flags())
	cmd.Flags().StringVar(&kind, "kind", "epochs", "epochs (the time of each) or progress (estimate and whole runs)")
	cmd.Flags().StringVar(&out, "out", "", "file to write, .svg or .png")
	cli.Require(cmd, "out")
	return cmd
}
