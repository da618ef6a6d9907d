package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/replay"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// newReplayCommand returns replay, which predicts the tasks of logs as a running program
// would.
func newReplayCommand(env *cli.Env) *cobra.Command {
	var model string
	var fraction float64
	var out cli.Output
	c := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Predict every task of logs before learning from it, as in a running program",
		Long: `Predict every task of logs, plain or compressed with gzip, from the tasks that had ended when
it started, as in a running program, and compare with simple rules.`,
		Example: `  chamtool replay logs/chamtool_rank_*.csv
  chamtool replay logs/chamtool_rank_0.csv --train-fraction 0.3 --plot predicted.svg`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := perfmodel.Check(model); err != nil {
				return cli.Usagef("--model: %w", err)
			}
			logs, err := loadTables(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			total := 0
			for _, l := range logs {
				total += l.Len()
			}
			progress := env.Progress("replay", int64(total))
			points := newSample()
			r, err := replay.Run(cmd.Context(), logs, replay.Options{
				Model: model, Skip: fraction,
				Progress: func(runs int) { progress.Set(int64(runs)) }, OnPrediction: points.add,
			})
			progress.Done()
			if errors.Is(err, replay.ErrFraction) {
				return cli.Usagef("--train-fraction: %w", err)
			}
			if err != nil {
				return err
			}
			if err := out.Draw(func() (chart.Chart, error) { return points.chart(), nil }); err != nil {
				return err
			}
			return out.Print(env, r, func(p *cli.Page) { printReplay(p, r) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&model, "model", "auto", "model: "+strings.Join(perfmodel.Names(), ", "))
	cli.Values(c, "model", perfmodel.Names()...)
	flags.Float64Var(&fraction, "train-fraction", 0, "fraction of each file, from its start, whose predictions are not scored")
	out.Flags(c, replay.Outcome{})
	out.PlotFlag(c, "predicted over actual times")
	return c
}

// loadTables reads files and warns of lines that cannot be used.
func loadTables(ctx context.Context, env *cli.Env, paths []string) ([]*replay.Table, error) {
	progress := env.Progress("read", sizeOf(paths))
	defer progress.Done()
	var tables []*replay.Table
	for _, path := range paths {
		t := replay.NewTable(path)
		l, err := task.Scan(ctx, path, task.Options{Add: t.Add, Read: func(bytes int) { progress.Add(int64(bytes)) }})
		if err != nil {
			return nil, err
		}
		cli.Warn(env, l.Diagnostics)
		if l.Counts.Dropped > 0 {
			env.Log.Warnf("%s: %s", path, l.Counts)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// sizeOf returns the bytes of files together, -1 if a size is unknown.
func sizeOf(paths []string) (bytes int64) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		bytes += info.Size()
	}
	return bytes
}

// sample holds some of many predictions, each with the same probability.
type sample struct {
	seen              int
	predicted, actual []float64 // microseconds
	random            *rand.Rand
}

const sampleSize = 5000

func newSample() *sample { return &sample{random: rand.New(rand.NewPCG(1, 1))} }

func (s *sample) add(predicted uncertainty.Prediction, actual float64) {
	const microseconds = 1e6
	s.seen++
	at := s.seen - 1
	if at < sampleSize {
		s.predicted, s.actual = append(s.predicted, 0), append(s.actual, 0)
	} else if at = s.random.IntN(s.seen); at >= sampleSize {
		return
	}
	s.predicted[at], s.actual[at] = predicted.Value*microseconds, actual*microseconds
}

func (s *sample) chart() chart.Chart {
	title := "Predicted and actual times"
	if s.seen > sampleSize {
		title = fmt.Sprintf("%s, %d of %d tasks", title, sampleSize, s.seen)
	}
	return chart.Scatter{
		Frame:  chart.Frame{Title: title, X: "actual (µs)", Y: "predicted (µs)", LogX: true, LogY: true},
		Series: []chart.Series{{Name: "task", X: s.actual, Y: s.predicted}}, Identity: true,
	}
}

func printReplay(p *cli.Page, r *replay.Outcome) {
	t := p.Table("measure", "value", "unit")
	t.Add("not scored", r.Train, "rows")
	t.Add("predicted", r.Test, "rows")
	t.Add("model", r.Model, "")
	t.Add("MAE", r.MAE, "s")
	t.Add("MAPE", r.MAPE, "%")
	t.Add("median APE", r.MedianAPE, "%")
	t.Add("WAPE", r.WAPE, "%")
	t.Add("R2", r.R2, "")
	t.Add("in the 90 % interval", r.Coverage, "")
	t.Add("unseen sizes", r.Unseen.Test, "rows")
	t.Add("MAPE, unseen sizes", r.Unseen.MAPE, "%")
	t = p.Table("predicted by", "MAPE (%)", "median (%)", "WAPE (%)")
	t.Add(r.Model, r.MAPE, r.MedianAPE, r.WAPE)
	for _, key := range slices.Sorted(maps.Keys(r.Baselines)) {
		b := r.Baselines[key]
		t.Add(b.Model, b.MAPE, b.MedianAPE, b.WAPE)
	}
	p.Line("The simple rules know the same past runs, of equal sizes if there are any and else of the function.")
}
