package cli

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

func newBacktestCommand(env *cli.Env) *cobra.Command {
	s := newSettings()
	var d dates
	var level float64
	var seed uint64
	var out cli.Output
	c := &cobra.Command{
		Use:   "backtest FILE",
		Short: "Predict the wait of every job in a log and compare with the actual wait",
		Long: `Predict the wait of each job submitted from --from until before --to, using only log
entries from before its submission, and compare with the actual wait. The table also
scores simple forecasts: the mean of the last 100 waits, and the median of the user's
latest waits, of the user's latest waits for the same shape, and of the latest waits
for about the same size and limit.`,
		Example: "  mirage backtest ls6-a100.log --from 2023-02-01 --to 2023-03-01 --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkLevel(level); err != nil {
				return err
			}
			t, err := s.openWaits(env, args[0])
			if err != nil {
				return err
			}
			in := backtest.Range{}
			if in.From, in.To, err = d.parse(t); err != nil {
				return err
			}
			bar := env.Progress("backtest", int64(len(t.Between(math.MinInt64, in.To))))
			defer bar.Done()
			in.Progress = func() { bar.Add(1) }
			f := forecast.LogSettings(t.Jobs, s.clusterSize(t), in.From)
			f.Level, f.Seed = level, seed
			f.Threads = s.Workers
			report, err := backtest.Run(cmd.Context(), t.Jobs, in, f)
			if err != nil {
				return err
			}
			return out.Print(env, *report, func(p *cli.Page) { showBacktest(p, report, level) })
		},
	}
	d.flags(c)
	c.Flags().Float64Var(&level, "level", 0.8, "level of the intervals")
	c.Flags().Uint64Var(&seed, "seed", 1, "random seed")
	s.machineFlags(c)
	out.Flags(c, backtest.Report{})
	cli.First(c, "from", "to", "config", "level", "json")
	return c
}

func showBacktest(p *cli.Page, r *backtest.Report, level float64) {
	unknown := ""
	if r.Unknown > 0 {
		unknown = "; the log does not contain the waits of " + plural.Count(r.Unknown, "more job")
	}
	p.Line("%s waited %v on average%s", plural.Count(r.Jobs, "job"), lasting(r.MeanWaitHours), unknown)
	t := p.Table("forecast", "mean error (h)", "median error (h)", "within 10 min", "within 1 h", "Spearman")
	add := func(name string, f backtest.Figures) {
		t.Add(name, f.MAEHours, f.MedianAEHours, cli.Share(f.Within10Min), cli.Share(f.Within1H), f.Spearman)
	}
	add("mirage", r.Figures)
	for _, name := range slices.Sorted(maps.Keys(r.Baselines)) {
		add(name, r.Baselines[name])
	}
	gain := "no job waited, so there is no gain"
	if r.MeanWaitHours > 0 {
		gain = fmt.Sprintf("%s %% less than %s, the best simple forecast", cli.Text(r.Gain.Times(100)), r.Best)
	}
	p.Line("mean error %v, %s (intervals over spans of %s)", wait(r.MAE), gain, plural.Count(r.BlockDays, "day"))
	if len(r.Eighths) > 0 {
		var ratios, held []string
		for _, e := range r.Eighths {
			ratio := "-"
			if e.BestHours > 0 {
				ratio = fmt.Sprintf("%.2f", e.MAEHours/e.BestHours)
			}
			ratios = append(ratios, ratio)
			held = append(held, fmt.Sprintf("%.0f", 100*e.Coverage))
		}
		p.Line("by eighths of the jobs: error compared with the simple forecast that is best in it %s; intervals contain %s %%", strings.Join(ratios, " "), strings.Join(held, " "))
	}
	p.Line("intervals of %g %% contain %s of the waits; mean width %v, interval score %v", 100*level, cli.Text(cli.Share(r.Coverage)), lasting(r.WidthHours), lasting(r.Winkler))
	if r.WidthHours > 24 {
		p.Line("the mean interval is wider than a day: one in ten of these jobs waited at most %v, one in ten at least %v", lasting(r.WaitP10Hours), lasting(r.WaitP90Hours))
	}
}
