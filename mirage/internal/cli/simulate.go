package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// simulated is the JSON output of mirage simulate.
type simulated struct {
	simulator.Metrics
	ClassMedian float64 `json:"class_median_mae_hours"`
	unknown     bool    // the log has no waits to compare with
}

// simulate holds the flags of the simulate command.
type simulate struct {
	env      *cli.Env
	in       *settings
	d        dates
	history  span
	outcomes string
	out      cli.Output
}

func newSimulateCommand(env *cli.Env) *cobra.Command {
	s := &simulate{env: env, in: newSettings()}
	c := &cobra.Command{
		Use:   "simulate FILE",
		Short: "Replay a log on a simulated cluster",
		Long: `Replay the jobs submitted from --from until before --to on a simulated cluster, and
compare their waits with the log. For comparison, the class median is the median wait
of jobs of about the same size and limit. The cluster begins idle; with --history the
jobs of that span before --from fill it. They are written to --out but not counted.`,
		Example: `  mirage simulate ls6-a100.log --nodes 75 --set user_limit=8 --set logged_priority=true \
      --from 2022-11-01 --to 2023-03-01 --out jobs.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), args[0]) },
	}
	s.d.flags(c)
	s.in.machineFlags(c)
	s.out.Flags(c, simulated{})
	f := c.Flags()
	f.Var(&s.history, "history", "span before --from whose jobs fill the cluster and are not counted, such as 28d")
	f.StringVar(&s.outcomes, "out", "", "write the start and end of every job to this CSV file")
	cli.OutputFile(c, "out")
	cli.First(c, "config", "nodes", "from", "to", "history")
	return c
}

func (s *simulate) run(ctx context.Context, path string) error {
	t, err := s.in.open(s.env, path)
	if err != nil {
		return err
	}
	config, err := s.in.config(t)
	if err != nil {
		return err
	}
	jobs, lo, hi, err := s.d.jobs(t, int64(s.history))
	if err != nil {
		return err
	}
	w, err := simulator.NewWorkload(jobs, config)
	if err != nil {
		return err
	}
	result, err := simulateWithProgress(ctx, s.env, w)
	if err != nil {
		return err
	}
	if s.outcomes != "" {
		if err := file.Write(s.outcomes, result.WriteCSV); err != nil {
			return err
		}
	}
	answer := simulated{result.MetricsBetween(lo, hi), backtest.ClassMedian(t.Jobs, lo, hi), false}
	if answer.Rejected > 0 {
		s.env.Log.Warnf("%s rejected: more than the %s of the cluster needed", plural.Count(answer.Rejected, "job"), plural.Count(w.Config.Nodes, "node"))
	}
	if err := t.CheckWaits(); err != nil {
		s.env.Doubt(fmt.Sprintf("the actual waits and the errors are not known: %v", err))
		answer.unknown = true
	}
	return s.out.Print(s.env, answer, answer.show)
}

func (s simulated) show(p *cli.Page) {
	t := p.Table("figure", "value")
	t.Add("jobs", s.Jobs)
	t.Add("rejected", s.Rejected)
	t.Add("mean wait, simulated (h)", s.MeanWaitHours)
	if !s.unknown {
		t.Add("mean wait, actual (h)", s.ActualMeanWaitHours)
		t.Add("Spearman", s.Spearman)
		t.Add("mean absolute error (h)", s.MAEHours)
		t.Add("error of class median (h)", s.ClassMedian)
	}
	t.Add("bounded slowdown", s.BoundedSlowdown)
	t.Add("utilisation", s.Utilisation)
	t.Add("makespan (days)", s.MakespanDays)
}

// simulateWithProgress runs Workload.Simulate with a progress bar.
func simulateWithProgress(ctx context.Context, env *cli.Env, w *simulator.Workload) (*simulator.Result, error) {
	bar := env.Progress("simulate", int64(len(w.Jobs)))
	defer bar.Done()
	return w.Simulate(ctx, func(done int) { bar.Set(int64(done)) })
}
