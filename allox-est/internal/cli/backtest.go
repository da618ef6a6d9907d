package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/backtest"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// newBacktestCommand returns "backtest": early estimates of recorded series,
// compared with their actual totals.
func newBacktestCommand(env *cli.Env) *cobra.Command {
	var t table
	var answer cli.Output
	cmd := &cobra.Command{
		Use:   "backtest FILE.csv ... --series COL --value COL",
		Short: "Compare early estimates of recorded runs with their actual totals",
		Long: `Estimate the total of each recorded series from its first steps, and compare the
estimate with the actual total.

FILE.csv or FILE.csv.gz has a header and one row per step, in order. Values may have
any unit. Methods:
` + backtest.Methods.Help(),
		Example: `  allox-est backtest steps.csv --series worker --value seconds --block '^job_[0-9]+'
  allox-est backtest a.csv b.csv --series run --value seconds,time --fraction 0.03`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !(t.fraction > 0 && t.fraction < 1) {
				return cli.Usagef("--fraction %v: want a fraction between 0 and 1", t.fraction)
			}
			blockOf, err := backtest.BlocksBy(t.block)
			if err != nil {
				return cli.Usagef("--block: %v", err)
			}
			var reports []*backtest.Report
			for _, file := range args {
				r, err := t.judge(env, file, blockOf)
				if err != nil {
					return err
				}
				reports = append(reports, r)
			}
			var value any = reports
			if len(reports) == 1 {
				value = reports[0]
			}
			return answer.Print(env, value, func(p *cli.Page) { showBacktest(p, reports) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.series, "series", "", "column with the name of the series")
	flags.StringSliceVar(&t.values, "value", nil, "column with the time of the step; of several, the first one that a file has")
	flags.StringVar(&t.block, "block", "", "regular expression for the part of a series name that names its block: series of one job or machine form a block (default: the name without its trailing number)")
	flags.Float64Var(&t.fraction, "fraction", 0.03, "fraction of each series that the estimate uses")
	answer.Flags(cmd, []*backtest.Report{})
	cli.First(cmd, "series", "value", "fraction")
	cli.Require(cmd, "series", "value")
	return cmd
}

// table holds the flags that say how the tables are read and judged.
type table struct {
	series, block string
	values        []string
	fraction      float64
}

// judge judges the series of one file.
func (t *table) judge(env *cli.Env, file string, blockOf func(name string) string) (*backtest.Report, error) {
	all, diagnostics, err := backtest.Load(file, t.series, t.values)
	if err != nil {
		return nil, err
	}
	cli.Warn(env, diagnostics)
	if n := len(diagnostics); n > 0 {
		env.Log.Warnf("%s skipped", plural.Count(n, "row"))
	}
	bar := env.Progress("series", 100)
	r, err := backtest.Run(all, t.fraction, blockOf, func(share float64) { bar.Set(int64(100 * share)) })
	bar.Done()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	r.File = filepath.Base(file)
	for _, name := range r.Short {
		env.Log.Warnf("series %s: skipped: too few steps, or a total of 0", name)
	}
	return r, nil
}

func showBacktest(p *cli.Page, reports []*backtest.Report) {
	header := []string{"method", "MAPE (%)", "low (%)", "high (%)", "deviation (%)", "in interval", "below", "above", "median width", "interval score", "refused"}
	if len(reports) > 1 {
		header = slices.Insert(header, 0, "file")
	}
	t := p.Table(header...)
	for _, r := range reports {
		for _, m := range backtest.Methods {
			s := r.Methods[m.Name]
			cells := []any{m.Name, s.MAPE, s.MAPELow, s.MAPEHigh, s.Deviation, cli.Share(s.Coverage), cli.Share(s.Below), cli.Share(s.Above), cli.Share(s.MedianWidth), s.IntervalScore, cli.Share(s.Refused)}
			if len(reports) > 1 {
				cells = slices.Insert(cells, 0, any(r.File))
			}
			t.Add(cells...)
		}
	}
	for _, r := range reports {
		p.Line("%s: %d series in %s, %.1f %% of each used", r.File, r.Series, plural.Count(r.Blocks, "block"), 100*r.Fraction)
	}
	p.Line("low, high: 95 %% interval of MAPE over blocks; in interval, below, above: totals inside, below and above their 95 %% interval")
}
