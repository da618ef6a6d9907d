package cli

import (
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/cli"
)

func newTrainCommand(env *cli.Env) *cobra.Command {
	var kind, path, until, zone string
	var s model.Settings
	var out cli.Output
	c := &cobra.Command{
		Use:   "train DIR...",
		Short: "learn from samples how long a successor will wait",
		Long: `Learn from samples how long a successor will wait. Of each folder the later
part judges the model. Folders made with other --nodes or --load show it more
kinds of weeks than the log has.

Kinds of models:

` + model.Learners().Help(),
		Example: "  mirage train samples/ more-samples/ --model boost --until 2023-02-01 --out boost.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if until != "" {
				location, err := time.LoadLocation(zone)
				if err != nil {
					return cli.Usagef("--zone: %w", err)
				}
				if s.Until, err = trace.ParseDate(until, location); err != nil {
					return cli.Usagef("--until: %w", err)
				}
			}
			if !(s.OverlapCost > 0) || math.IsInf(s.OverlapCost, 1) {
				return cli.Usagef("--overlap-cost: %v is not above 0", s.OverlapCost)
			}
			learner, err := model.Learners().Find(kind)
			if err != nil {
				return cli.Usagef("--model: %w", err)
			}
			sets, err := loadSamples(env, args)
			if err != nil {
				return err
			}
			begin := time.Now()
			s.Threads = runtime.GOMAXPROCS(0) // the model does not depend on it
			if !s.Forecast {
				env.Log.Warn("the model does not see what the queue predicts: on busier weeks than it has learnt from it costs more than a simple baseline (1.5 times as much in a February of Lonestar6)")
			}
			trained, report, err := model.Train(cmd.Context(), kind, learner, sets, s)
			if err != nil {
				return err
			}
			if err := trained.Save(path); err != nil {
				return err
			}
			answer := struct {
				model.Report
				Seconds float64 `json:"wall_seconds"`
			}{report, time.Since(begin).Seconds()}
			return out.Print(env, answer, func(p *cli.Page) {
				p.Line("%s (%s): %d samples to learn from, %d to judge by, %d left out", report.Model, report.Detail, report.Rows, report.HeldOutRows, report.LeftOut)
				p.Line("mean absolute error %s h of waits of %s h on average, Spearman %s; submits from an expected reward of %+.2f h",
					cli.Text(report.MAEHours), cli.Text(report.MeanHours), cli.Text(report.Spearman), report.FromHours)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "model", "boost", "kind of model: "+strings.Join(model.Learners().Names(), ", "))
	f.StringVar(&path, "out", "", "model file to write")
	f.StringVar(&until, "until", "", "leave out episodes of which some successor started on that day or later")
	f.StringVar(&zone, "zone", trace.DefaultZone, "time zone of --until")
	f.Float64Var(&s.OverlapCost, "overlap-cost", 1, "cost of an hour of overlap against one of interruption")
	f.BoolVar(&s.Forecast, "forecast", true, "let the model see what the queue itself predicts, by simulating it with time limits; without it no model beats a simple baseline in a busier month")
	f.Uint64Var(&s.Seed, "seed", 1, "seed of whatever is random")
	out.Flags(c)
	cli.First(c, "model", "out", "until", "overlap-cost", "seed")
	cli.Require(c, "out")
	return c
}

// loadSamples reads folders of samples, of which a model keeps a summary.
func loadSamples(env *cli.Env, dirs []string) ([]*samples.Set, error) {
	bar := env.Progress("read samples", int64(len(dirs)))
	defer bar.Done()
	var sets []*samples.Set
	for _, dir := range dirs {
		set, err := samples.Load(dir, model.Reduce)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
		bar.Add(1)
	}
	return sets, nil
}
