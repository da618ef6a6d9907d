package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/job"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

func newReportCommand(env *cli.Env) *cobra.Command {
	var out, trace string
	var asJSON bool
	c := &cobra.Command{
		Use:   "report LOGDIR",
		Short: "Put the logs of all ranks together: imbalance, worst ranks and functions, predictions",
		Long: `Put the logs of all ranks of a job together: tasks and time, the imbalance of
each iteration, the worst ranks and functions, how well tasks were predicted,
and how many moved. Ranks whose log is missing or torn are named.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			j, err := job.Load(args[0])
			if err != nil {
				return err
			}
			for _, why := range j.Reasons {
				env.Log.Warn(why)
			}
			return reportJob(env, j, out, trace, asJSON)
		},
	}
	fl := c.Flags()
	fl.StringVar(&out, "out", "", "image of the loads of each iteration, .svg or .png")
	fl.StringVar(&trace, "trace", "", "file for Perfetto or chrome://tracing, with every run; - is standard output")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func reportJob(env *cli.Env, j *job.Job, out, trace string, asJSON bool) error {
	f := j.Figures()
	if out != "" {
		if err := chart.Save(out, spreads(f)); err != nil {
			return err
		}
	}
	if trace != "" {
		if err := env.Write(trace, j.Trace); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		return env.WriteJSON(f)
	case trace == "-":
		return nil
	}
	return reportTables(env, f)
}

func spreads(f job.Figures) chart.Chart {
	mean, most := chart.Series{Name: "mean of the ranks"}, chart.Series{Name: "most loaded rank"}
	for _, s := range f.EachIter {
		x := float64(s.Iteration)
		mean.X, mean.Y = append(mean.X, x), append(mean.Y, s.Mean)
		most.X, most.Y = append(most.X, x), append(most.Y, s.Most)
	}
	return chart.Lines{Frame: chart.Frame{Title: "Load per iteration", X: "iteration", Y: "load (s)"}, Series: []chart.Series{most, mean}}
}

func reportTables(env *cli.Env, f job.Figures) error {
	t := cli.Table{Header: []string{"measure", "value"}}
	t.Add("ranks with a log", f.Ranks)
	t.Add("missing ranks", ranksText(f.Missing))
	t.Add("torn ranks", ranksText(f.Torn))
	t.Add("tasks", f.Tasks)
	t.Add("task seconds", digits(f.Seconds))
	t.Add("iterations", f.Iterations)
	t.Add("imbalance, mean", digits(f.Imbalance))
	if f.Worst != nil {
		t.Add("imbalance, worst", fmt.Sprintf("%s in iteration %d, rank %d", digits(f.Worst.Imbalance), f.Worst.Iteration, f.Worst.Rank))
	}
	if f.SlowestRank != nil {
		t.Add("slowest rank", fmt.Sprintf("%d, %s times the others' times of equal tasks", f.SlowestRank.Rank, digits(f.SlowestRank.Pace)))
	}
	t.Add("tasks that moved", f.Moved)
	t.Add("predicted", f.Prediction.Predicted)
	t.Add("MAPE %", figure(f.Prediction.MAPE))
	t.Add("median APE %", figure(f.Prediction.MedianAPE))
	t.Add("in their interval (0.9 promised)", figure(f.Prediction.Coverage))
	ranks := cli.Table{Header: []string{"rank", "tasks", "task s", "came", "pace"}}
	for _, r := range f.WorstRanks {
		ranks.Add(r.Rank, r.Tasks, digits(r.Seconds), r.Came, digits(r.Pace))
	}
	functions := cli.Table{Header: []string{"function", "tasks", "task s", "share", "median s", "MAPE %"}}
	for _, fn := range f.Functions {
		functions.Add(fn.Name, fn.Tasks, digits(fn.Seconds), digits(fn.Share), digits(fn.Median), figure(fn.MAPE))
	}
	for i, table := range []*cli.Table{&t, &ranks, &functions} {
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		if _, err := table.WriteTo(env.Stdout); err != nil {
			return err
		}
	}
	return nil
}

func ranksText(ranks []int) string {
	if len(ranks) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", len(ranks), strings.Trim(fmt.Sprint(ranks), "[]"))
}
