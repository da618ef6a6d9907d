package cli

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/backtest"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// newBacktestCommand returns "backtest": early estimates of recorded series,
// compared with their actual totals.
func newBacktestCommand(env *cli.Env) *cobra.Command {
	var series, value, block, stage string
	var fraction float64
	var answer cli.Output
	cmd := &cobra.Command{
		Use:   "backtest FILE.csv --series COL --value COL",
		Short: "Compare early estimates of recorded runs with their actual totals",
		Long: `Estimate the total of each recorded series from its first steps, and compare the
estimate with the actual total.

FILE.csv or FILE.csv.gz has a header and one row per step, in order. Values may have
any unit. Methods:
` + backtest.Methods.Help(),
		Example: `  allox-est backtest steps.csv --series worker --value seconds --block '^job_[0-9]+'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !(fraction > 0 && fraction < 1) {
				return cli.Usagef("--fraction %v: want a fraction between 0 and 1", fraction)
			}
			pattern, err := regexp.Compile(block)
			if err != nil {
				return cli.Usagef("--block: %v", err)
			}
			all, diagnostics, err := backtest.Load(args[0], series, value, stage)
			if err != nil {
				return err
			}
			cli.Warn(env, diagnostics)
			if n := len(diagnostics); n > 0 {
				env.Log.Warnf("%s skipped", plural.Count(n, "row"))
			}
			of := backtest.BlockOf
			if block != "" {
				of = func(name string) string {
					if part := pattern.FindString(name); part != "" {
						return part
					}
					return name
				}
			}
			bar := env.Progress("series", 100)
			r, err := backtest.Run(all, fraction, of, func(share float64) { bar.Set(int64(100 * share)) })
			bar.Done()
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			for _, name := range r.Short {
				env.Log.Warnf("series %s: skipped: too few steps, or a total of 0", name)
			}
			return answer.Print(env, r, func(p *cli.Page) { showBacktest(p, r) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&series, "series", "", "column with the name of the series")
	flags.StringVar(&value, "value", "", "column with the time of the step")
	flags.StringVar(&block, "block", "", "regular expression for the part of a series name that names its block: series of one job or machine form a block (default: the name without its trailing number)")
	flags.StringVar(&stage, "stage-column", "", "column with the stage of the step, if the work changes during a run; the first three steps of each later stage are used too")
	flags.Float64Var(&fraction, "fraction", 0.03, "fraction of each series that the estimate uses")
	answer.Flags(cmd)
	cli.First(cmd, "series", "value", "fraction", "stage-column")
	cli.Require(cmd, "series", "value")
	return cmd
}

func showBacktest(p *cli.Page, r *backtest.Report) {
	t := p.Table("method", "MAPE %", "median %", "covered", "low", "high", "median width", "interval score", "refused")
	for _, m := range backtest.Methods {
		s := r.Methods[m.Name]
		t.Add(m.Name, s.MAPE, s.MedianAPE, cli.Share(s.Coverage), (*cli.Share)(s.CoverageLow), (*cli.Share)(s.CoverageHigh),
			cli.Share(s.MedianWidth), s.IntervalScore, cli.Share(s.Refused))
	}
	p.Line("%d series in %s, %.1f %% of each used; covered: totals inside their 95 %% interval (low, high: 95 %% interval over blocks)", r.Series, plural.Count(r.Blocks, "block"), 100*r.Fraction)
}
