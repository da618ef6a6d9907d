package cli

import (
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

func newFitCommand(env *cli.Env) *cobra.Command {
	s := newSettings()
	var d dates
	var held, to string
	var nodes int
	var out cli.Output
	c := &cobra.Command{
		Use:   "fit FILE --out FILE",
		Short: "Find the nodes, user limit and weights that reproduce a log's waits",
		Long: `Search for the settings of a Slurm-like scheduler that reproduce the waits of the
jobs submitted from --from until before --to, and write them to --out. The jobs of
the four weeks before --from fill the queue. The range until --held-to is not used for
the search; the result is tested on it.`,
		Example: "  mirage fit ls6-a100.log --from 2022-11-01 --to 2023-02-01 --held-to 2023-03-01 --out config.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := s.openWaits(env, args[0])
			if err != nil {
				return err
			}
			lo, hi, err := d.parse(t)
			if err != nil {
				return err
			}
			end := hi
			if held != "" {
				if end, err = t.Date(held); err != nil || end <= hi {
					return cli.Usagef("--held-to %s: want a date after --to", held)
				}
			}
			if err := t.CheckSize(); err != nil && nodes == 0 {
				return cli.Usagef("%w; give it with --nodes", err)
			}
			grid := simulator.GridFor(t.Jobs, lo, hi)
			if nodes > 0 {
				grid.Nodes = []int{nodes}
			}
			bar := env.Progress("fit", -1)
			defer bar.Done()
			found, err := simulator.Search(cmd.Context(), t.Jobs, grid, s.Workers, func() { bar.Add(1) })
			if err != nil {
				return err
			}
			fit := &simulator.File{Config: found.Config, Zone: t.Zone.String(), From: lo, To: hi, Loss: found.Loss}
			if t.Unit == trace.CPUs || t.Unit == trace.GPUs {
				fit.Unit = t.Unit
			}
			if err := fit.Judge(cmd.Context(), t.Jobs, end); err != nil {
				return err
			}
			if err := file.WriteJSON(to, fit); err != nil {
				return err
			}
			answer := fitted{*fit, map[string]float64{"train": backtest.ClassMedian(t.Jobs, lo, hi)}}
			if end > hi {
				answer.ClassMedian["held_out"], answer.ClassMedian["all"] = backtest.ClassMedian(t.Jobs, hi, end), backtest.ClassMedian(t.Jobs, lo, end)
			}
			return out.Print(env, answer, func(p *cli.Page) { answer.show(p, t, found.Tried) })
		},
	}
	d.flags(c)
	f := c.Flags()
	f.StringVar(&held, "held-to", "", "end of the held-out range, exclusive; it begins at --to")
	f.StringVar(&to, "out", "", "settings file to write")
	cli.OutputFile(c, "out")
	f.IntVar(&nodes, "nodes", 0, "nodes of the cluster, if known (default: searched for)")
	s.flags(c)
	out.Flags(c, fitted{})
	cli.First(c, "from", "to", "held-to", "out", "nodes")
	cli.Require(c, "out")
	return c
}

// fitted is the JSON output of mirage fit.
type fitted struct {
	simulator.File
	ClassMedian map[string]float64 `json:"class_median_mae_hours"`
}

func (f fitted) show(p *cli.Page, t *trace.Trace, tried int) {
	most := "any number of jobs"
	if f.UserLimit > 0 {
		most = plural.Count(f.UserLimit, "job")
	}
	p.Line("%s, %s per user, logged priority %v (weight %g), size weight %g, age weight %g: loss %.3f, the least of %s",
		plural.Count(f.Nodes, "node"), most, f.LoggedPriority, f.Weights.Logged, f.Weights.Size, f.Weights.Age, f.Loss, plural.Count(tried, "setting"))
	table := p.Table("range", "jobs", "mean wait (h)", "actual (h)", "Spearman", "MAE (h)", "MAE of class median (h)")
	for _, q := range []struct {
		name, key string
		*simulator.Quality
	}{{"training, from " + t.Clock(f.From).Format(time.DateOnly), "train", f.Train}, {"held out, from " + t.Clock(f.To).Format(time.DateOnly), "held_out", f.Held}, {"both", "all", f.All}} {
		if q.Quality != nil {
			seconds := math.Round(q.MAEHours * 3600) // the resolution of a log
			table.Add(q.name, q.Jobs, q.MeanWaitHours, q.ActualMeanWaitHours, q.Spearman, seconds/3600, f.ClassMedian[q.key])
		}
	}
}
