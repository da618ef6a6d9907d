package cli

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// synthUserLimit is the number of jobs that a user may run at once, as on Lonestar6.
const synthUserLimit = 8

func newSynthCommand(env *cli.Env) *cobra.Command {
	var answer cli.Output
	var start, out string
	var jobs, nodes int
	var days, utilisation float64
	var seed uint64
	c := &cobra.Command{
		Use:   "synth --out FILE",
		Short: "Generate a synthetic log",
		Long: `Generate a log, in the layout of the published Mirage logs, whose jobs follow the
distributions of the Lonestar6 A100 queue. The waits come from a simulated Slurm with
--nodes nodes, on which a user runs at most eight jobs at once.`,
		Args:    cobra.NoArgs,
		Example: "  mirage log synth --days 28 --nodes 75 --seed 1 --out month.log",
		RunE: func(cmd *cobra.Command, _ []string) error {
			zone, err := time.LoadLocation(trace.DefaultZone)
			if err != nil {
				return err
			}
			t := &trace.Trace{Zone: zone, Layout: trace.Mirage}
			s := synth.Settings{Jobs: jobs, Days: days, Zone: t.Zone, MaxNodes: nodes, Seed: seed}
			if s.Start, err = t.Date(start); err != nil {
				return cli.Usagef("--start: %w", err)
			}
			changed := cmd.Flags().Changed
			if changed("days") && days <= 0 || changed("utilisation") && utilisation <= 0 {
				return cli.Usagef("--days %v --utilisation %v: want values above 0", days, utilisation)
			}
			if jobs == 0 && days == 0 {
				s.Days = 28
			}
			if utilisation > 0 {
				s.NodeHoursPerDay = utilisation * float64(nodes) * 24
			}
			if t.Jobs, err = synth.Default().Generate(cmd.Context(), s); err != nil {
				return err
			}
			config := simulator.Config{Rules: cluster.Defaults(cluster.Slurm)}
			config.Nodes = nodes
			config.UserLimit = synthUserLimit
			config.LoggedPriority = true
			w, err := simulator.NewWorkload(t.Jobs, config)
			if err != nil {
				return err
			}
			result, err := simulateWithProgress(cmd.Context(), env, w)
			if err != nil {
				return err
			}
			for i := range t.Jobs {
				if from, to, ok := result.Times(i); ok {
					t.Jobs[i].Start, t.Jobs[i].End = from, to
				}
			}
			if err := file.Write(out, func(w io.Writer) error { return trace.WriteMirage(w, t.Jobs, zone) }); err != nil {
				return err
			}
			stats := newTraceStats(t)
			return answer.Print(env, stats, stats.show)
		},
	}
	f := c.Flags()
	f.IntVar(&jobs, "jobs", 0, "number of jobs")
	f.Float64Var(&days, "days", 0, "number of days (default: 28, or as many as --jobs need)")
	f.StringVar(&start, "start", "2023-01-01", "first day, a `date`")
	f.IntVar(&nodes, "nodes", 75, "nodes of the simulated cluster; larger jobs are not generated")
	f.Float64Var(&utilisation, "utilisation", 0, "submitted work as a fraction of the cluster's capacity (default: from the distributions)")
	f.Uint64Var(&seed, "seed", 1, "random seed")
	f.StringVar(&out, "out", "", "log to write")
	cli.OutputFile(c, "out")
	answer.Flags(c, traceStats{})
	cli.Require(c, "out")
	cli.First(c, "days", "nodes", "utilisation", "seed", "out")
	return c
}
