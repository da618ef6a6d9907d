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
	"github.com/foretime/foretime/shared/plural"
)

// newReportCommand returns report, which merges the logs of all ranks.
func newReportCommand(env *cli.Env) *cobra.Command {
	var trace, function string
	var models bool
	var out cli.Output
	c := &cobra.Command{
		Use:   "report LOGDIR | report --models [FILE]",
		Short: "Merge the logs of all ranks: imbalance, slowest ranks and functions, predictions",
		Example: `  chamtool report logs --plot report.svg
  chamtool report --models --function dgemm --plot model.svg`,
		Long: `Merge the logs of all ranks of a job: tasks and time, the imbalance of each
iteration, the slowest ranks and functions, the prediction error and the tasks
that moved. It names the ranks whose log is missing, torn or lacks dropped tasks.
If LOGDIR has no log itself, the newest run below it is reported. All runs in LOGDIR
and in the directories below it are listed. With --models it lists the runs that are kept
for predictions from one program run to the next instead, of this host or of a FILE.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if models {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if models {
				kept, err := readModels(args, function)
				if err != nil {
					return err
				}
				if err := out.Draw(func() (chart.Chart, error) { return kept.chart(), nil }); err != nil {
					return err
				}
				return out.Print(env, kept, kept.print)
			}
			if function != "" {
				return cli.Usagef("--function needs --models")
			}
			runs, err := job.Runs(args[0])
			if err != nil {
				return err
			}
			dir := newest(args[0], runs)
			progress := env.Progress("read", sizeOf(companions(dir)))
			j, err := job.Load(cmd.Context(), dir, func(bytes int) { progress.Add(int64(bytes)) })
			progress.Done()
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
			if err := out.Draw(func() (chart.Chart, error) { return loadChart(f), nil }); err != nil {
				return err
			}
			answer := reported{j.Dir, f, runs}
			return out.Print(env, answer, func(p *cli.Page) {
				reportTables(p, f)
				runTable(p, j.Dir, runs)
			})
		},
	}
	c.Flags().StringVar(&trace, "trace", "", "write every task run to this file, for Perfetto or chrome://tracing; - is standard output")
	cli.OutputFile(c, "trace")
	c.Flags().BoolVar(&models, "models", false, "list the kept models")
	c.Flags().StringVar(&function, "function", "", "with --models, the sizes of the functions whose name contains this text")
	out.Flags(c, reported{})
	out.AnswerWith("models", keptModels{})
	out.PlotFlag(c, "the loads of each iteration, or the kept models")
	return c
}

// reported is the answer of report.
type reported struct {
	Directory string `json:"directory"`
	job.Figures
	Runs []job.Run `json:"runs"`
}

// newest returns a directory if it has the logs of a run, else that of the last run below it.
func newest(dir string, runs []job.Run) string {
	if len(runs) == 0 || job.HasLogs(dir) {
		return dir
	}
	return runs[len(runs)-1].Dir
}

// runTable lists the runs, if there are several.
func runTable(p *cli.Page, reported string, runs []job.Run) {
	if len(runs) < 2 {
		return
	}
	t := p.Table("run", "program", "began", "ranks", "tasks", "state")
	for _, r := range runs {
		state := "complete"
		if !r.Complete {
			state = "its end was not seen"
		}
		if r.Dir == reported {
			state += ", reported here"
		}
		t.Add(r.Dir, r.Program, r.Began, r.Ranks, r.Tasks, state)
	}
}

// tasksText returns the number of tasks, with those that were dropped.
func tasksText(f job.Figures) string {
	low, high := droppedTasks(f)
	if high == 0 {
		return fmt.Sprint(f.Tasks)
	}
	return fmt.Sprintf("%d, without the %d to %d that were dropped", f.Tasks, low, high)
}

// beyondText returns why the log does not hold all tasks.
func beyondText(f job.Figures) string {
	switch f.Unread {
	case 0:
		return "the log reached its limit"
	case f.Unlogged:
		return "they came faster than they were read"
	}
	return fmt.Sprintf("%d came faster than they were read, and the log reached its limit", f.Unread)
}

// droppedTasks returns the bounds of the number of tasks that were dropped.
func droppedTasks(f job.Figures) (low, high uint64) {
	for _, d := range f.Dropped {
		low, high = low+d.Low, high+d.High
	}
	return low, high
}

// loadChart draws the loads of each iteration: the largest and the mean of all ranks, or one
// line for a single rank.
func loadChart(f job.Figures) chart.Lines {
	mean, most := chart.Series{Name: "mean over ranks"}, chart.Series{Name: "most loaded rank"}
	for _, s := range f.Spreads {
		x := float64(s.Iteration)
		mean.X, mean.Y = append(mean.X, x), append(mean.Y, s.Mean)
		most.X, most.Y = append(most.X, x), append(most.Y, s.Max)
	}
	c := chart.Lines{Frame: chart.Frame{Title: "Load per iteration", X: "iteration", Y: "load (s)"}, Series: []chart.Series{most, mean}}
	if f.Ranks == 1 { // both are equal
		most.Name = "load"
		c.Series = []chart.Series{most}
	}
	return c
}

func reportTables(p *cli.Page, f job.Figures) {
	t, alone := p.Table("measure", "value"), f.Ranks == 1 && len(f.Missing) == 0
	if !alone {
		t.Add("ranks with a log", f.Ranks)
		t.Add("missing ranks", ranksText(f.Missing))
	}
	if f.Signal {
		t.Add("ended by", "a signal or MPI_Abort")
	}
	if !alone || len(f.Torn) > 0 {
		t.Add("torn ranks", ranksText(f.Torn))
	}
	for _, d := range f.Dropped {
		t.Add(fmt.Sprintf("dropped tasks, rank %d", d.Rank), fmt.Sprintf("%d to %d: the times and shares of this rank are lower bounds", d.Low, d.High))
	}
	t.Add("tasks", tasksText(f))
	if f.Unlogged > 0 {
		t.Add("tasks only counted", fmt.Sprintf("%d: %s; medians, errors and the worst functions cover the other %d", f.Unlogged, beyondText(f), f.Tasks-f.Unlogged))
	}
	t.Add("task seconds", f.Seconds)
	t.Add("iterations", f.Iterations)
	if !alone {
		t.Add("imbalance, mean", f.Imbalance)
	}
	if f.Worst != nil && !alone {
		t.Add("imbalance, worst", fmt.Sprintf("%s in iteration %d, rank %d", cli.Text(f.Worst.Imbalance), f.Worst.Iteration, f.Worst.Rank))
	}
	if f.SlowestRank != nil {
		t.Add("slowest rank", fmt.Sprintf("%d: its tasks take %s times as long as equal tasks of the others", f.SlowestRank.Rank, cli.Text(f.SlowestRank.Slowdown)))
	}
	if !alone {
		t.Add("tasks that moved", f.Moved)
	}
	lostRows(t, f.Lost, alone)
	t.Add("tasks predicted", f.Prediction.Predicted)
	t.Add("MAPE %", f.Prediction.MAPE)
	t.Add("median APE %", f.Prediction.MedianAPE)
	t.Add("in the 90 % interval", f.Prediction.Coverage)
	timesTable(p, f)
	if len(f.Depths) > 1 {
		depths := p.Table("depth", "tasks", "work (s)")
		for i, d := range f.Depths {
			depths.Add(i+1, d.Tasks, d.Work)
		}
	}
	lostTables(p, f)
	functionTable(p, f.Functions)
}

func functionTable(p *cli.Page, functions []job.Function) {
	if len(functions) == 0 {
		return
	}
	t := p.Table("function", "tasks", "task (s)", "share", "median (s)", "MAPE (%)")
	for _, fn := range functions {
		t.Add(fn.Name, fn.Tasks, fn.Seconds, fn.Share, fn.Median, fn.MAPE)
	}
}

// lostRows adds the rows about idle time, and about imbalance unless a rank is alone.
func lostRows(t *cli.Table, l job.LostTime, alone bool) {
	if l.Saving != nil && !alone {
		t.Add("imbalance without moves", l.Imbalance)
	}
	t.Add("wall s of iterations", l.Wall)
	t.Add("waiting s, all threads", l.Waiting)
	if l.Saving != nil {
		t.Add("perfect balance saves s", savingText(*l.Saving))
	}
	if g := l.Graph; g != nil {
		t.Add("work s, span s", fmt.Sprintf("%s, %s", cli.Text(g.Work), spanFigures(g, "")))
		if len(g.Critical) > 0 {
			t.Add("span by function", criticalText(g))
		}
	}
	if l.Function != nil {
		t.Add("most imbalanced function", fmt.Sprintf("%s: %s s above the mean", l.Function.Function, cli.Text(l.Function.Seconds)))
	}
}

// timesTable prints the efficiencies and what ranks and threads did, those first that computed most.
func timesTable(p *cli.Page, f job.Figures) {
	t := f.Times
	if f.Ranks > 0 && f.Unknown != "" {
		p.Line("load balance, efficiency: unknown, %s", f.Unknown)
	}
	if t == nil {
		return
	}
	if t.Efficiency != nil {
		efficiencyLine(p, t)
	}
	if t.Slowdown[0] > 0 {
		factor := fmt.Sprintf("%.2f", t.Slowdown[0])
		if most := fmt.Sprintf("%.2f", t.Slowdown[1]); most != factor {
			factor += " to " + most
		}
		p.Line("the tool made the run about %s times slower: %s s in its callbacks, %s s of CPU time on threads of its own, %s s to start and end", factor, cli.Text(t.Callbacks), cli.Text(t.Tool), cli.Text(t.Start))
	}
	columns := []string{"rank", "thread", "computing (s)", "not running (s)", "waiting (s)", "MPI (s)", "outside of regions (s)"}
	hasUnknown := slices.ContainsFunc(t.Threads, func(one job.ThreadTime) bool { return one.Unknown > minUnknownShare*t.Wall })
	if hasUnknown {
		columns = append(columns, "unknown (s)")
	}
	table := p.Table(columns...)
	add := func(thread any, one job.ThreadTime) {
		cells := []any{one.Rank, thread, one.Computing, one.Stopped, one.Waiting, one.MPI, one.Outside}
		if hasUnknown {
			cells = append(cells, one.Unknown)
		}
		table.Add(cells...)
	}
	if len(t.Ranks) > 1 {
		for _, r := range t.Ranks {
			add("all", r)
		}
	}
	all := slices.Clone(t.Threads)
	slices.SortStableFunc(all, func(a, b job.ThreadTime) int { return cmp.Compare(b.Useful, a.Useful) })
	for _, one := range all[:min(maxThreads, len(all))] {
		add(one.Thread, one)
	}
	if len(all) > maxThreads {
		last := all[len(all)-1]
		add(fmt.Sprintf("%d, the least", last.Thread), last)
	}
}

// efficiencyLine prints the efficiencies of all ranks.
func efficiencyLine(p *cli.Page, t *job.Times) {
	balance := cli.Text(t.LoadBalance)
	if len(t.Ranks) > 1 {
		balance += fmt.Sprintf(" (ranks %s, threads %s)", cli.Text(t.RankBalance), cli.Text(t.ThreadBalance))
	}
	p.Line("parallel efficiency %s = load balance %s x communication %s, of %s s without MPI before the first use of OpenMP", cli.Text(t.Parallel), balance, cli.Text(t.Communication), cli.Text(t.Wall))
}

const (
	// maxThreads bounds the threads that are printed.
	maxThreads = 8
	// minUnknownShare is the share of a thread's time from which on unknown time is printed.
	minUnknownShare = 0.001
)

// savingText returns a saving, its bounds and its share.
func savingText(s job.Saving) string {
	return fmt.Sprintf("%s [%s, %s], %s of the wall time", cli.Text(s.Seconds), cli.Text(s.Low), cli.Text(s.High), cli.Text(s.Share))
}

// spanFigures returns the span with a unit, and the parallelism. A span that lacks dependences is a
// lower bound.
func spanFigures(g *job.Graph, unit string) string {
	if g.Lost > 0 {
		return fmt.Sprintf("at least %s%s: parallelism at most %s, %s had no room", cli.Text(g.Span), unit, cli.Text(g.Parallelism), plural.Count(int(g.Lost), "dependence"))
	}
	if g.Loops {
		return fmt.Sprintf("%s%s with loops as their threads ran them: parallelism at least %s", cli.Text(g.Span), unit, cli.Text(g.Parallelism))
	}
	return fmt.Sprintf("%s%s: parallelism %s", cli.Text(g.Span), unit, cli.Text(g.Parallelism))
}

// maxParts bounds the parts of the span that are printed.
const maxParts = 3

// criticalText returns the largest parts of the span as shares.
func criticalText(g *job.Graph) string {
	all := 0.0
	for _, part := range g.Critical {
		all += part.Seconds
	}
	var parts []string
	for _, part := range g.Critical[:min(maxParts, len(g.Critical))] {
		parts = append(parts, fmt.Sprintf("%.0f %% %s", 100*part.Seconds/all, part.Function))
	}
	return strings.Join(parts, ", ")
}

// lostTables prints the slowest ranks, and the iterations with the longest waits.
func lostTables(p *cli.Page, f job.Figures) {
	var t *cli.Table
	if f.Ranks > 1 || len(f.Missing) > 0 {
		t = p.Table("rank", "created", "executed", "sent", "received", "task (s)", "waiting (s)", "wall (s)", "slowdown")
		for _, r := range f.WorstRanks {
			t.Add(r.Rank, r.Created, r.Tasks, r.Sent, r.Received, r.Seconds, r.Waiting, r.Wall, r.Slowdown)
		}
	}
	worst := slices.Clone(f.Lost.Rounds)
	slices.SortStableFunc(worst, func(a, b job.RankRound) int { return cmp.Compare(b.Waiting, a.Waiting) })
	if len(worst) > 0 {
		t = p.Table("iteration", "rank", "created", "executed", "sent", "task (s)", "waiting (s)", "wall (s)")
	}
	for _, r := range worst[:min(5, len(worst))] {
		t.Add(r.Iteration, r.Rank, r.Created, r.Executed, r.Sent, r.Tasks, r.Waiting, r.Wall)
	}
}

func ranksText(ranks []int) string {
	if len(ranks) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", len(ranks), strings.Trim(fmt.Sprint(ranks), "[]"))
}
