package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/shared/cli"
)

// newReportCommand returns report, which describes a run and the cost of sharing.
func newReportCommand(env *cli.Env) *cobra.Command {
	var run, alone string
	var logs, aloneLogs []string
	var deadlines []float64
	var answer cli.Output
	c := &cobra.Command{
		Use:   "report",
		Short: "Describe a run: completion times, inflation, fairness, missed deadlines",
		Example: `  deft report --run out/run.json --alone out/alone.json --csv report.csv
  deft report --log model_A.csv,model_B.csv --alone-log alone_A.csv,alone_B.csv`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if len(deadlines) > 0 && len(logs) == 0 {
				return cli.Usagef("--deadline-ms: only with --log")
			}
			r, err := loadRun("run", run, logs, deadlines)
			if errors.Is(err, report.ErrDeadlines) {
				return cli.Usagef("--deadline-ms: %w", err)
			}
			if err != nil {
				return err
			}
			compared := r
			if alone != "" || len(aloneLogs) > 0 {
				a, err := loadRun("alone", alone, aloneLogs, nil)
				if err != nil {
					return err
				}
				if len(logs) > 0 || len(aloneLogs) > 0 {
					if err := matchModels(r, a); err != nil {
						return err
					}
				}
				if compared, err = r.Compare(a); err != nil {
					return err
				}
			}
			cli.Warn(env, r.Warnings)
			return answer.Print(env, compared, func(p *cli.Page) { showReport(p, compared) })
		},
	}
	f := c.Flags()
	f.StringVar(&run, "run", "", "run: run.json, or the output of deft run --json")
	f.StringSliceVar(&logs, "log", nil, "instead of --run: logs of completion times, one per model")
	f.StringVar(&alone, "alone", "", "the same models alone: alone.json, or the output of deft alone --json")
	f.StringSliceVar(&aloneLogs, "alone-log", nil, "instead of --alone: logs of the models alone, in the same order")
	f.Float64SliceVar(&deadlines, "deadline-ms", nil, "with --log: one deadline per model (0: none)")
	answer.Flags(c)
	cli.First(c, "run", "alone", "log", "alone-log", "json")
	return c
}

// loadRun reads a run from its JSON or from logs.
func loadRun(flag, path string, logs []string, deadlines []float64) (*report.Run, error) {
	switch {
	case path != "" && len(logs) > 0:
		return nil, cli.Usagef("--%s and logs: give only one of them", flag)
	case path != "" && flag == "alone":
		return report.LoadAlone(path)
	case path != "":
		return report.Load(path)
	case len(logs) > 0:
		return report.FromLogs(logs, deadlines)
	}
	return nil, cli.Usagef("no run given: use --run or --log")
}

// matchModels gives the solo models the names of the shared ones, in order, since logs have
// only the names of their files.
func matchModels(r, alone *report.Run) error {
	if len(r.Models) != len(alone.Models) {
		return cli.Usagef("%d shared models, but %d solo ones: want the same number", len(r.Models), len(alone.Models))
	}
	for i := range alone.Models {
		alone.Models[i].Name = r.Models[i].Name
	}
	return nil
}

func showReport(p *cli.Page, c *report.Run) {
	showModels(p, c)
	for _, line := range []struct {
		name  string
		value *float64
	}{{"Jain's index over progress", c.Progress}, {"Jain's index over device time", c.Jain}, {"device utilization", c.Busy}} {
		if line.value != nil {
			p.Line("%s %.4f", line.name, *line.value)
		}
	}
	if l := c.Preemption; l != nil {
		p.Line("preemption latency, ms: mean %.3f, p99 %.3f, max %.3f", l.Mean, l.P99, l.Max)
	}
}
