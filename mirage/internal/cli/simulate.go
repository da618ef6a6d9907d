package cli

import (
	"context"
	"fmt"
	"io"
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
	var in input
	var m machine
	var from, to, history, out string
	var gantt, utilisation string
	var asJSON bool
	c := &cobra.Command{
		Use:   "simulate FILE",
		Short: "replay a trace on a simulated cluster",
		Long: `Replay the jobs submitted from --from on and before --to on a simulated cluster,
and compare their waits with those in the trace. The cluster is idle at first;
with --history the jobs submitted in that span before --from fill it, and are
written to --out too, but do not count in the figures.`,
		Example: `  mirage simulate ls6-a100.log --nodes 75 --scheduler slurm --user-limit 8 --logged-priority \
      --from 2022-11-01 --to 2023-03-01 --out jobs.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			begin := time.Now()
			warm, err := seconds("history", history)
			if err != nil {
				return err
			}
			t, w, config, err := m.workload(env, &in, args[0], from, to, warm)
			if err != nil {
				return err
			}
			lo, hi, err := between(t, from, to)
			if err != nil {
				return err
			}
			result, err := simulateWithProgress(cmd.Context(), env, w)
			if err != nil {
				return err
			}
			if out != "" {
				if err := file.Write(out, result.WriteCSV); err != nil {
					return err
				}
			}
			if err := drawSchedule(result, gantt, utilisation); err != nil {
				return err
			}
			s := simulated{Metrics: result.MetricsBetween(lo, hi), WallSeconds: time.Since(begin).Seconds()}
			if s.Rejected > 0 {
				env.Log.Warnf("%d jobs ask for more than the %d nodes there are: rejected", s.Rejected, config.Nodes)
			}
			if asJSON {
				return env.WriteJSON(s)
			}
			return s.print(env.Stdout)
		},
	}
	in.flags(c)
	m.flags(c)
	f := c.Flags()
	f.StringVar(&from, "from", "", "first day (or time) of submission")
	f.StringVar(&to, "to", "", "day (or time) before which jobs are submitted")
	f.StringVar(&history, "history", "0h", "simulate the jobs of this span before --from too, such as 28d, without counting them")
	f.StringVar(&out, "out", "", "write every job's outcome to this CSV file")
	f.StringVar(&gantt, "gantt", "", "draw who held which node, .svg or .png (a few hundred jobs)")
	f.StringVar(&utilisation, "utilisation-chart", "", "draw the nodes in use over time, .svg or .png")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// drawSchedule draws the charts that were asked for.
func drawSchedule(r *simulator.Result, gantt, utilisation string) error {
	if gantt != "" {
		g, err := simulator.Gantt(r)
		if err != nil {
			return err
		}
		if err := chart.Save(gantt, g); err != nil {
			return err
		}
	}
	if utilisation != "" {
		return chart.Save(utilisation, simulator.Utilisation(r))
	}
	return nil
}

func (s simulated) print(w io.Writer) error {
	var t cli.Table
	t.Header = []string{"figure", "value"}
	t.Add("jobs", s.Jobs)
	t.Add("rejected", s.Rejected)
	t.Add("mean wait, simulated (h)", fmt.Sprintf("%.3f", s.MeanWaitHours))
	t.Add("mean wait, actual (h)", fmt.Sprintf("%.3f", s.ActualMeanWaitHours))
	t.Add("Spearman", fmt.Sprintf("%.3f", s.Spearman))
	t.Add("mean absolute error (h)", fmt.Sprintf("%.3f", s.MAEHours))
	t.Add("bounded slowdown", fmt.Sprintf("%.1f", s.BoundedSlowdown))
	t.Add("utilisation", fmt.Sprintf("%.3f", s.Utilisation))
	t.Add("makespan (days)", fmt.Sprintf("%.2f", s.MakespanDays))
	t.Add("wall time (s)", fmt.Sprintf("%.3f", s.WallSeconds))
	_, err := t.WriteTo(w)
	return err
}

// simulateWithProgress is Workload.Simulate with a bar.
func simulateWithProgress(ctx context.Context, env *cli.Env, w *simulator.Workload) (*simulator.Result, error) {
	bar := env.Progress("simulate", int64(len(w.Jobs)))
	defer bar.Done()
	return w.Simulate(ctx, func(done int) { bar.Set(int64(done)) })
}
