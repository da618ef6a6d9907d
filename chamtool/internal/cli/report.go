package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

func newReportCommand(env *cli.Env) *cobra.Command {
	var trace string
	var out cli.Output
	c := &cobra.Command{
		Use:     "report LOGDIR",
		Short:   "Put the logs of all ranks together: imbalance, worst ranks and functions, predictions",
		Example: "  chamtool report logs --plot report.svg",
		Long: `Put the logs of all ranks of a job together: tasks and time, the imbalance of
each iteration, the worst ranks and functions, how well tasks were predicted,
and how many moved. Ranks whose log is missing or torn, or lacks tasks that came
faster than they were read, are named.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.Load(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			cli.Warn(env, j.Reasons)
			if trace != "" {
				if err := env.Write(trace, j.Trace); err != nil || trace == "-" {
					return err
				}
			}
			f := j.Figures()
			if err := out.Draw(func() (chart.Chart, error) { return spreads(f), nil }); err != nil {
				return err
			}
			return out.Print(env, f, func(p *cli.Page) { reportTables(p, f) })
		},
	}
	c.Flags().StringVar(&trace, "trace", "", "file for Perfetto or chrome://tracing, with every run; - is standard output")
	cli.OutputFile(c, "trace")
	out.Flags(c)
	out.PlotFlag(c, "the loads of each iteration")
	return c
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

func reportTables(p *cli.Page, f job.Figures) {
	t := p.Table("measure", "value")
	t.Add("ranks with a log", f.Ranks)
	t.Add("missing ranks", ranksText(f.Missing))
	t.Add("torn ranks", ranksText(f.Torn))
	for _, d := range f.Dropped {
		t.Add(fmt.Sprintf("dropped tasks, rank %d", d.Rank), fmt.Sprintf("%d to %d: its times and shares are lower bounds", d.Low, d.High))
	}
	t.Add("tasks", f.Tasks)
	t.Add("task seconds", f.Seconds)
	t.Add("iterations", f.Iterations)
	t.Add("imbalance, mean", f.Imbalance)
	if f.Worst != nil {
		t.Add("imbalance, worst", fmt.Sprintf("%s in iteration %d, rank %d", cli.Text(f.Worst.Imbalance), f.Worst.Iteration, f.Worst.Rank))
	}
	if f.SlowestRank != nil {
		t.Add("slowest rank", fmt.Sprintf("%d, %s times the others' times of equal tasks", f.SlowestRank.Rank, cli.Text(f.SlowestRank.Pace)))
	}
	t.Add("tasks that moved", f.Moved)
	lostRows(t, f.Lost)
	t.Add("predicted", f.Prediction.Predicted)
	t.Add("MAPE %", f.Prediction.MAPE)
	t.Add("median APE %", f.Prediction.MedianAPE)
	t.Add("in their interval (0.9 promised)", f.Prediction.Coverage)
	lostTables(p, f)
	t = p.Table("function", "tasks", "task s", "share", "median s", "MAPE %")
	for _, fn := range f.Functions {
		t.Add(fn.Name, fn.Tasks, fn.Seconds, fn.Share, fn.Median, fn.MAPE)
	}
}

// lostRows tell where the time of the threads went.
func lostRows(t *cli.Table, l job.Lost) {
	if l.Saving == nil {
		return
	}
	if len(l.ByThread) == 0 {
		t.Add("imbalance, as created", l.Imbalance)
	}
	t.Add("wall s of iterations", l.Wall)
	t.Add("waiting s, all threads", l.Waiting)
	t.Add("perfect balance saves s", fmt.Sprintf("%s [%s, %s], %s of the wall time", cli.Text(l.Saving.Seconds), cli.Text(l.Saving.Low), cli.Text(l.Saving.High), cli.Text(l.Saving.Share)))
	if l.Function != nil {
		t.Add("worst spread function", fmt.Sprintf("%s: %s s above the mean", l.Function.Function, cli.Text(l.Function.Seconds)))
	}
	if l.Size != nil && l.Size.Sizes != "" {
		t.Add("of it, worst sizes", fmt.Sprintf("%s: %s s", l.Size.Sizes, cli.Text(l.Size.Seconds)))
	}
}

// lostTables are the ranks, or the threads of one, and the iterations that lost most.
func lostTables(p *cli.Page, f job.Figures) {
	t := p.Table("rank", "created", "executed", "given", "came", "computing s", "waiting s", "wall s", "pace")
	for _, r := range f.WorstRanks {
		t.Add(r.Rank, r.Created, r.Tasks, r.Given, r.Came, r.Seconds, r.Waiting, r.Wall, r.Pace)
	}
	if len(f.Lost.ByThread) > 0 {
		t = p.Table("thread", "executed", "computing s", "other s")
		for _, one := range f.Lost.ByThread {
			t.Add(one.Lane, one.Executed, one.Computing, one.Other)
		}
	}
	worst := slices.Clone(f.Lost.Each)
	slices.SortStableFunc(worst, func(a, b job.RankRound) int { return cmp.Compare(b.Waiting, a.Waiting) })
	if len(worst) > 0 {
		t = p.Table("iteration", "rank", "created", "executed", "given", "computing s", "waiting s", "wall s")
	}
	for _, r := range worst[:min(5, len(worst))] {
		t.Add(r.Iteration, r.Rank, r.Created, r.Executed, r.Given, r.Computing, r.Waiting, r.Wall)
	}
}

func ranksText(ranks []int) string {
	if len(ranks) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", len(ranks), strings.Trim(fmt.Sprint(ranks), "[]"))
}
