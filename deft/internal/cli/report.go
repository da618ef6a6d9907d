package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/report"
	"github.com/foretime/foretime/shared/cli"
)

// newReportCommand describes a run, and what sharing cost.
func newReportCommand(env *cli.Env) *cobra.Command {
	var run, alone, csv string
	var logs, aloneLogs []string
	var deadlines []float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "report",
		Short: "describe a run: completion times, inflation, fairness, missed deadlines",
		Example: `  deft report --run out/run.json --alone out/alone.json --csv report.csv
  deft report --log model_A.csv,model_B.csv --alone-log alone_A.csv,alone_B.csv`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			r, err := runOf("run", run, logs, deadlines)
			if err != nil {
				return err
			}
			c := r.Alone()
			if alone != "" || len(aloneLogs) > 0 {
				a, err := runOf("alone", alone, aloneLogs, nil)
				if err != nil {
					return err
				}
				if c, err = compare(r, a, len(logs) > 0 || len(aloneLogs) > 0); err != nil {
					return err
				}
			}
			for _, w := range r.Warnings {
				env.Log.Warn(w)
			}
			if csv != "" {
				if err := c.SaveCSV(csv); err != nil {
					return err
				}
			}
			if asJSON {
				return env.WriteJSON(c)
			}
			return printReport(env, c)
		},
	}
	f := c.Flags()
	f.StringVar(&run, "run", "", "a run: run.json, or what deft run --json printed")
	f.StringSliceVar(&logs, "log", nil, "instead: logs of completion times, one a model")
	f.StringVar(&alone, "alone", "", "the same models alone: what deft alone --json printed")
	f.StringSliceVar(&aloneLogs, "alone-log", nil, "instead: logs of the models alone, in the same order")
	f.Float64SliceVar(&deadlines, "deadline-ms", nil, "with --log: a deadline for each model, 0 for none")
	f.StringVar(&csv, "csv", "", "write a row a model to this CSV file")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// runOf reads a run from its JSON or from logs.
func runOf(flag, path string, logs []string, deadlines []float64) (*report.Run, error) {
	switch {
	case path != "" && len(logs) > 0:
		return nil, cli.Usagef("--%s and logs: give one of them", flag)
	case path != "":
		return report.Load(path)
	case len(logs) > 0:
		return report.FromLogs(logs, deadlines)
	}
	return nil, cli.Usagef("no run given: --run or --log")
}

// compare sets r beside a. Logs have no name but their file's: they are taken
// in order.
func compare(r, a *report.Run, byPlace bool) (*report.Comparison, error) {
	if byPlace {
		if len(r.Models) != len(a.Models) {
			return nil, cli.Usagef("%d models shared, %d alone", len(r.Models), len(a.Models))
		}
		for i := range a.Models {
			a.Models[i].Name = r.Models[i].Name
		}
	}
	return r.Compare(a)
}

func printReport(env *cli.Env, c *report.Comparison) error {
	if err := table(env.Stdout, c); err != nil {
		return err
	}
	for _, line := range []struct {
		name  string
		value *float64
	}{{"Jain's index over progress", c.Progress}, {"Jain's index over device time", c.Jain}, {"share of time the device worked", c.Busy}} {
		if line.value != nil {
			if _, err := fmt.Fprintf(env.Stdout, "%s %.4f\n", line.name, *line.value); err != nil {
				return err
			}
		}
	}
	if p := c.Preemption; p != nil {
		_, err := fmt.Fprintf(env.Stdout, "until those stopped were drained, ms: mean %.3f, p99 %.3f, most %.3f\n", p.Mean, p.P99, p.Max)
		return err
	}
	return nil
}
