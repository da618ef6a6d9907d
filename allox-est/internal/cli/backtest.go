package cli

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/backtest"
	"github.com/foretime/foretime/shared/cli"
)

// newBacktestCommand returns "backtest": estimates beside series that were
// measured to their end.
func newBacktestCommand(env *cli.Env) *cobra.Command {
	var series, value, block, stage string
	var fraction float64
	var answer cli.Output
	cmd := &cobra.Command{
		Use:   "backtest FILE.csv --series COL --value COL",
		Short: "Hold estimates from the first steps of measured series against the whole",
		Long: `Hold estimates from the first steps of measured series against their sums.

FILE.csv, plain or .gz, has a header and a row a step, in the order of the steps;
values may have any unit. Methods:
` + backtest.Methods.Help(),
		Example: `  allox-est backtest steps.csv --series worker --value seconds --block '^job_[0-9]+'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !(fraction > 0 && fraction < 1) {
				return cli.Usagef("--fraction %v: want a share between 0 and 1", fraction)
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
				env.Log.Warnf("%d rows left out", n)
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
			r, err := backtest.Run(all, fraction, of)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			for _, name := range r.Short {
				env.Log.Warnf("series %s is too short, or takes no time: left out", name)
			}
			return answer.Print(env, r, func(p *cli.Page) { showBacktest(p, r) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&series, "series", "", "column that names a step's series")
	flags.StringVar(&value, "value", "", "column of what the step took")
	flags.StringVar(&block, "block", "", "regular expression of the part of a series' name that it shares with those of the same job or machine; by default the name without the number at its end")
	flags.StringVar(&stage, "stage-column", "", "column that names the stage of a step, where the work changes on the way: three steps of each stage to come are seen too")
	flags.Float64Var(&fraction, "fraction", 0.03, "share of each series that is seen")
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
	p.Line("%d series in %d blocks, %.1f %% of each seen; coverage of 95 %%, low and high over blocks", r.Series, r.Blocks, 100*r.Fraction)
}
