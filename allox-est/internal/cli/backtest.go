package cli

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/backtest"
	"github.com/foretime/foretime/shared/cli"
)

// newBacktestCommand returns "backtest": estimates beside series that were
// measured to their end.
func newBacktestCommand(env *cli.Env) *cobra.Command {
	var series, value, block string
	var fraction float64
	var asJSON bool
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
			all, diagnostics, err := backtest.Load(args[0], series, value)
			if err != nil {
				return err
			}
			for _, d := range diagnostics[:min(len(diagnostics), 10)] {
				env.Log.Warn(d)
			}
			if n := len(diagnostics); n > 0 {
				env.Log.Warnf("%d rows left out", n)
			}
			var of func(string) string
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
			if asJSON {
				return env.WriteJSON(r)
			}
			return printBacktest(env, r)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&series, "series", "", "column that names a step's series")
	flags.StringVar(&value, "value", "", "column of what the step took")
	flags.StringVar(&block, "block", "", "regular expression of the part of a series' name that it shares with those of the same job or machine")
	flags.Float64Var(&fraction, "fraction", 0.03, "share of each series that is seen")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Require(cmd, "series", "value")
	return cmd
}

func printBacktest(env *cli.Env, r *backtest.Report) error {
	t := cli.Table{Header: []string{"method", "MAPE %", "median %", "covered %", "of 95 %, over blocks", "median width %", "interval score", "flagged %", "covered unflagged %"}}
	percent := func(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
	for _, m := range backtest.Methods {
		s := r.Methods[m.Name]
		between, unflagged := "-", "-"
		if s.CoverageLow != nil {
			between = percent(*s.CoverageLow) + " to " + percent(*s.CoverageHigh)
		}
		if s.CoverageUnflagged != nil {
			unflagged = percent(*s.CoverageUnflagged)
		}
		t.Add(m.Name, fixed(s.MAPE), fixed(s.MedianAPE), percent(s.Coverage), between, percent(s.MedianWidth), fmt.Sprintf("%.3f", s.IntervalScore), percent(s.Flagged), unflagged)
	}
	if _, err := t.WriteTo(env.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "%d series in %d blocks, %.1f %% of each seen\n", r.Series, r.Blocks, 100*r.Fraction)
	return err
}
