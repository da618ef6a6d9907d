package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// simulated is what mirage simulate --json prints.
type simulated struct {
	simulator.Metrics
	WallSeconds float64 `json:"wall_seconds"`
}

func newSimulateCommand(env *cli.Env) *cobra.Command {
	s := newSettings()
	var d dates
	var history span
	var outcomes string
	var out cli.Output
	c := &cobra.Command{
		Use:   "simulate FILE",
		Short: "replay a trace on a simulated cluster",
		Long: `Replay the jobs submitted from --from on and before --to on a simulated cluster,
and compare their waits with those in the trace. The cluster is idle at first;
with --history the jobs submitted in that span before --from fill it, and are
written to --out too, but do not count in the figures.`,
		Example: `  mirage simulate ls6-a100.log --nodes 75 --set user_limit=8 --set logged_priority=true \
      --from 2022-11-01 --to 2023-03-01 --out jobs.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			begin := time.Now()
			t, w, err := s.workload(env, args[0], d, history)
			if err != nil {
				return err
			}
			lo, hi, err := d.of(t)
			if err != nil {
				return err
			}
			result, err := simulateWithProgress(cmd.Context(), env, w)
			if err != nil {
				return err
			}
			if outcomes != "" {
				if err := file.Write(outcomes, result.WriteCSV); err != nil {
					return err
				}
			}
			if err := out.Draw(func() (chart.Chart, error) { return simulator.Utilisation(result), nil }); err != nil {
				return err
			}
			answer := simulated{Metrics: result.MetricsBetween(lo, hi), WallSeconds: time.Since(begin).Seconds()}
			if answer.Rejected > 0 {
				env.Log.Warnf("%d jobs ask for more than the %d nodes there are: rejected", answer.Rejected, w.Config.Nodes)
			}
			return out.Print(env, answer, answer.show)
		},
	}
	d.flags(c)
	f := c.Flags()
	f.Var(&history, "history", "simulate the jobs of this span before --from too, such as 28d, without counting them")
	f.StringVar(&outcomes, "out", "", "write every job's outcome to this CSV file")
	s.machineFlags(c)
	out.Flags(c)
	out.PlotFlag(c, "the nodes in use over time")
	cli.First(c, "config", "nodes", "from", "to", "history")
	return c
}

func (s simulated) show(p *cli.Page) {
	t := p.Table("figure", "value")
	t.Add("jobs", s.Jobs)
	t.Add("rejected", s.Rejected)
	t.Add("mean wait, simulated (h)", s.MeanWaitHours)
	t.Add("mean wait, actual (h)", s.ActualMeanWaitHours)
	t.Add("Spearman", s.Spearman)
	t.Add("mean absolute error (h)", s.MAEHours)
	t.Add("bounded slowdown", s.BoundedSlowdown)
	t.Add("utilisation", s.Utilisation)
	t.Add("makespan (days)", s.MakespanDays)
	t.Add("wall time (s)", s.WallSeconds)
}

// simulateWithProgress is Workload.Simulate with a bar.
func simulateWithProgress(ctx context.Context, env *cli.Env, w *simulator.Workload) (*simulator.Result, error) {
	bar := env.Progress("simulate", int64(len(w.Jobs)))
	defer bar.Done()
	return w.Simulate(ctx, func(done int) { bar.Set(int64(done)) })
}
