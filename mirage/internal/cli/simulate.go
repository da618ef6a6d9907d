package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/checker"
	"github.com/foretime/foretime/mirage/report"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// simulated is what mirage simulate --json prints.
type simulated struct {
	simulator.Metrics
	WallSeconds float64        `json:"wall_seconds"`
	Check       *checkedResult `json:"check,omitempty"`
}

type checkedResult struct {
	Invariants []int          `json:"invariants"`
	Skipped    map[int]string `json:"skipped,omitempty"`
	Violations int            `json:"violations"`
}

func newSimulateCommand(env *cli.Env) *cobra.Command {
	var in input
	var m machine
	var from, to, history, out string
	var gantt, utilisation string
	var check, asJSON bool
	c := &cobra.Command{
		Use:   "simulate FILE",
		Short: "replay a trace on a simulated cluster",
		Long: `Replay the jobs submitted from --from on and before --to on a simulated cluster,
and compare their waits with those in the trace. The cluster is idle at first;
with --history the jobs submitted in that span before --from fill it, and are
written to --out too, but do not count in the figures.`,
		Example: `  mirage simulate ls6-a100.log --nodes 75 --scheduler slurm --user-limit 8 --logged-priority \
      --from 2022-11-01 --to 2023-03-01 --check --out jobs.csv`,
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
			if check {
				report, err := checkResult(cmd.Context(), result, out)
				if err != nil {
					return err
				}
				s.Check = &checkedResult{report.Checked, report.Skipped, report.Total}
				for _, v := range report.Violations[:min(len(report.Violations), 20)] {
					env.Log.Error(v.Error())
				}
				if err := report.Err(); err != nil {
					return fmt.Errorf("check: %w", err)
				}
			}
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
	f.BoolVar(&check, "check", false, "recompute the invariants from the outcome, independently")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// drawSchedule draws the charts that were asked for.
func drawSchedule(r *simulator.Result, gantt, utilisation string) error {
	if gantt != "" {
		g, err := report.Gantt(r)
		if err != nil {
			return err
		}
		if err := chart.Save(gantt, g); err != nil {
			return err
		}
	}
	if utilisation != "" {
		return chart.Save(utilisation, report.Utilisation(r))
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
	if s.Check != nil {
		t.Add("invariants checked", fmt.Sprint(s.Check.Invariants))
	}
	_, err := t.WriteTo(w)
	return err
}

// simulateWithProgress is Workload.Simulate with a bar.
func simulateWithProgress(ctx context.Context, env *cli.Env, w *simulator.Workload) (*simulator.Result, error) {
	bar := env.Progress("simulate", int64(len(w.Jobs)))
	defer bar.Done()
	return w.Simulate(ctx, func(done int) { bar.Set(int64(done)) })
}

// checkResult gives the outcome, as the CSV file spells it, to the checker.
func checkResult(ctx context.Context, result *simulator.Result, out string) (checker.Report, error) {
	w := result.Workload
	table := checker.Table{Jobs: w.Jobs, Machine: w.Config.Machine, Rules: w.Config.Rules}
	outcomes, err := outcomesOf(result, out)
	if err != nil {
		return checker.Report{}, err
	}
	report := checker.Check(table, outcomes)
	err = checker.Metamorphic(&report, table, outcomes, func(t checker.Table, forkAt *int64) ([]checker.Outcome, error) {
		return simulateTable(ctx, t, forkAt)
	})
	return report, err
}

func outcomesOf(result *simulator.Result, file string) ([]checker.Outcome, error) {
	if file != "" {
		return checker.ReadOutcomes(file)
	}
	var b bytes.Buffer
	if err := result.WriteCSV(&b); err != nil {
		return nil, err
	}
	r, err := dataset.NewReader[checker.Outcome](&b, "jobs.csv", dataset.CSV, dataset.Options{})
	if err != nil {
		return nil, err
	}
	table, err := dataset.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return table.Rows, nil
}

func simulateTable(ctx context.Context, t checker.Table, forkAt *int64) ([]checker.Outcome, error) {
	w, err := simulator.NewWorkload(t.Jobs, simulator.Config{Machine: t.Machine, Rules: t.Rules})
	if err != nil {
		return nil, err
	}
	var result *simulator.Result
	if forkAt != nil {
		result, err = w.SimulateForked(ctx, *forkAt)
	} else {
		result, err = w.Simulate(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	return outcomesOf(result, "")
}
