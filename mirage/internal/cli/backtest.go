package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/backtest"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/cli"
)

// backtested is what mirage backtest --json prints.
type backtested struct {
	*backtest.Report
	Seconds float64 `json:"seconds"`
}

func newBacktestCommand(env *cli.Env) *cobra.Command {
	var in input
	var m machine
	var from, to string
	var s backtest.Settings
	var asJSON bool
	c := &cobra.Command{
		Use:   "backtest FILE",
		Short: "predict each job's wait from what the log showed by then, and judge it",
		Long: `Predict, for each job submitted from --from on and before --to, how long it
will wait, from what the log shows at its submission and nothing later, and
compare with how long it waited. Beside it stand the mean of the last hundred
waits and the medians of the user's latest, of the user's latest of that shape,
and of the latest of such size and limit. With --config a simulation of that
cluster, which knows every length and every arrival, is told too.`,
		Example: "  mirage backtest ls6-a100.log --from 2023-02-01 --to 2023-03-01 --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			begin := time.Now()
			t, err := in.open(env, args[0])
			if err != nil {
				return err
			}
			lo, hi, err := between(t, from, to)
			if err != nil {
				return err
			}
			oracle, err := m.oracle(cmd.Context(), t, &s)
			if err != nil {
				return err
			}
			bar := env.Progress("backtest", int64(len(t.Between(math.MinInt64, hi))))
			defer bar.Done()
			report, err := backtest.Run(cmd.Context(), t.Jobs, lo, hi, s, oracle, func() { bar.Add(1) })
			if err != nil {
				return err
			}
			if asJSON {
				return env.WriteJSON(backtested{report, time.Since(begin).Seconds()})
			}
			return printBacktest(env.Stdout, report)
		},
	}
	in.flags(c)
	m.flags(c)
	f := c.Flags()
	f.StringVar(&from, "from", "", "first day (or time) of submission of the jobs predicted")
	f.StringVar(&to, "to", "", "day (or time) before which they are submitted")
	f.Float64Var(&s.Level, "level", .9, "level of the intervals")
	f.Uint64Var(&s.Seed, "seed", 1, "seed of whatever is random")
	f.IntVar(&s.Threads, "workers", runtime.GOMAXPROCS(0), "goroutines; the outcome does not depend on it")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// oracle sets the machine's size and, where there is a settings file, simulates
// the log as one who knows the future would: the waits in seconds.
func (m *machine) oracle(ctx context.Context, t *trace.Trace, s *backtest.Settings) ([]float64, error) {
	s.Partitioned = len(showsOf(t.Jobs).names()) > 1
	s.Size = t.Size // the most that the whole log shows in use would tell of the future
	if m.changed("nodes") {
		s.Size = m.nodes
	}
	if m.file == "" {
		return nil, nil
	}
	config, _, err := m.config(t)
	if err != nil {
		return nil, err
	}
	s.Size = config.Nodes
	w, err := simulator.NewWorkload(t.Jobs, config)
	if err != nil {
		return nil, err
	}
	result, err := w.Simulate(ctx, nil)
	if err != nil {
		return nil, err
	}
	waits := make([]float64, len(t.Jobs))
	for i := range waits {
		waits[i] = math.NaN()
		if start, _, ok := result.Started(i); ok {
			waits[i] = float64(start - t.Jobs[i].Submit)
		}
	}
	return waits, nil
}

func printBacktest(w io.Writer, r *backtest.Report) error {
	fmt.Fprintf(w, "%d jobs waited %.2f h on average", r.Jobs, r.MeanWaitHours)
	if r.Unknown > 0 {
		fmt.Fprintf(w, "; of %d more the log does not say how long", r.Unknown)
	}
	fmt.Fprintf(w, "\n\n")
	var t cli.Table
	t.Header = []string{"forecast", "mean error (h)", "median error (h)", "within 10 min", "within 1 h", "Spearman"}
	add := func(name string, f backtest.Figures) {
		t.Add(name, fmt.Sprintf("%.2f", f.MAEHours), fmt.Sprintf("%.3f", f.MedianAEHours), percent(f.Within10Min), percent(f.Within1H), fmt.Sprintf("%.3f", f.Spearman))
	}
	add("mirage", r.Figures)
	for _, name := range slices.Sorted(maps.Keys(r.Baselines)) {
		add(name, r.Baselines[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Oracles)) {
		add(name+" (knows the future)", r.Oracles[name])
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nmean error %s h; %s less than %s, the best of the simple ones (intervals over spans of %d days)\nintervals hold %s of the waits and are %.1f h wide on average\n",
		shown(r.MAE), share(r.Gain.Value, r.Gain.Low, r.Gain.High, r.Gain.Bounded()), r.Best, r.BlockDays, percent(r.Coverage), r.MeanWidthHours)
	return err
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// share is a share with its interval, where that is known, in percent.
func share(value, low, high float64, known bool) string {
	if !known {
		return percent(value)
	}
	return fmt.Sprintf("%.0f %% [%.0f, %.0f]", 100*value, 100*low, 100*high)
}
