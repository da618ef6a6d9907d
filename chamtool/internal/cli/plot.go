package cli

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/replay"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/stats"
)

// newPlotCommand returns plot, which draws the predictions or the loads of logs.
func newPlotCommand(env *cli.Env) *cobra.Command {
	var format, out, what, model string
	var fraction float64
	c := &cobra.Command{
		Use:     "plot FILE... --out FILE.svg",
		Short:   "Plot predicted over actual times, the error over tasks, or the load per iteration",
		Example: "  chamtool plot logs/chamtool_rank_0.csv --out predicted.svg",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			logs, err := loadLogs(cmd.Context(), env, args, format)
			if err != nil {
				return err
			}
			var c chart.Chart
			switch what {
			case "predicted", "error":
				var r *replay.Result
				if r, err = evaluate(cmd.Context(), logs, replay.Split{Fraction: fraction}, model, false); err == nil {
					c = pairs(r.Pairs, what)
				}
			case "load":
				c = loads(logs)
			default:
				return cli.Usagef("--what %q: want predicted, error or load", what)
			}
			if err != nil {
				return err
			}
			return chart.Save(out, c)
		},
	}
	fl := c.Flags()
	fl.StringVar(&format, "format", "auto", "file format: auto, csv, parquet, mxm, ar or perm, each also compressed with gzip")
	fl.StringVar(&out, "out", "", "image to write, .svg or .png")
	cli.OutputFile(c, "out")
	cli.Require(c, "out")
	fl.StringVar(&what, "what", "predicted", "predicted (over actual times), error (over tasks) or load (per iteration)")
	fl.StringVar(&model, "model", "auto", "model, as for eval")
	fl.Float64Var(&fraction, "train-fraction", 0.3, "learn from this fraction of each file, from its beginning")
	return c
}

// pairs draws predictions, or their errors in 40 stretches of tasks.
func pairs(ps []replay.Pair, what string) chart.Chart {
	if what == "predicted" {
		s := chart.Series{Name: "task"}
		for _, p := range ps {
			s.X, s.Y = append(s.X, p.Actual), append(s.Y, p.Predicted)
		}
		return chart.Scatter{Frame: chart.Frame{Title: "Predicted and actual times", X: "actual (s)", Y: "predicted (s)", LogX: true, LogY: true}, Series: []chart.Series{s}, Identity: true}
	}
	mean := chart.Series{Name: "mean"}
	median := chart.Series{Name: "median"}
	const stretch = 40
	for from := 0; from < len(ps); {
		to := min(len(ps), from+max(1, len(ps)/stretch))
		sum, below := 0.0, make([]float64, 0, to-from)
		for _, p := range ps[from:to] {
			e := 100 * math.Abs(p.Predicted-p.Actual) / p.Actual
			sum += e
			below = append(below, e)
		}
		x := float64(from+to) / 2
		mean.X, mean.Y = append(mean.X, x), append(mean.Y, sum/float64(to-from))
		median.X, median.Y = append(median.X, x), append(median.Y, stats.Median(below))
		from = to
	}
	return chart.Lines{Frame: chart.Frame{Title: "Prediction error", X: "task", Y: "error (%)"}, Series: []chart.Series{mean, median}}
}

// loads draws the seconds of each iteration: those in the log, or else the sum over its
// tasks.
func loads(logs []*task.Log) chart.Chart {
	var all []chart.Series
	for _, l := range logs {
		seconds := l.Loads
		if len(seconds) == 0 {
			for _, r := range l.Rows {
				for len(seconds) <= r.Iteration && r.Iteration < 1<<20 {
					seconds = append(seconds, 0)
				}
				seconds[r.Iteration] += r.Seconds
			}
		}
		s := chart.Series{Name: l.Name}
		for i, y := range seconds {
			s.X, s.Y = append(s.X, float64(i)), append(s.Y, y)
		}
		all = append(all, s)
	}
	return chart.Lines{Frame: chart.Frame{Title: "Load per iteration", X: "iteration", Y: "load (s)"}, Series: all}
}
