package cli

import (
	"fmt"
	"io"
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
	var kind, out, until, zone string
	var s model.Settings
	var asJSON bool
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
			if !s.Forecast {
				env.Log.Warn("the model does not see what the queue predicts: on busier weeks than it has learnt from it costs more than a simple baseline (1.5 times as much in a February of Lonestar6)")
			}
			trained, report, err := model.Train(cmd.Context(), kind, learner, sets, s)
			if err != nil {
				return err
			}
			if err := trained.Save(out); err != nil {
				return err
			}
			if asJSON {
				return env.WriteJSON(struct {
					model.Report
					Seconds float64 `json:"wall_seconds"`
				}{report, time.Since(begin).Seconds()})
			}
			return printTraining(env.Stdout, report)
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "model", "boost", "kind of model: "+strings.Join(model.Learners().Names(), ", "))
	f.StringVar(&out, "out", "", "model file to write")
	f.StringVar(&until, "until", "", "leave out episodes of which some successor started on that day or later")
	f.StringVar(&zone, "zone", trace.DefaultZone, "time zone of --until")
	f.Float64Var(&s.OverlapCost, "overlap-cost", 1, "cost of an hour of overlap against one of interruption")
	f.BoolVar(&s.Forecast, "forecast", true, "let the model see what the queue itself predicts, by simulating it with time limits; without it no model beats a simple baseline in a busier month")
	f.Uint64Var(&s.Seed, "seed", 1, "seed of whatever is random")
	f.IntVar(&s.Threads, "workers", runtime.GOMAXPROCS(0), "goroutines; the model does not depend on it")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Require(c, "out")
	return c
}

func printTraining(w io.Writer, r model.Report) error {
	fmt.Fprintf(w, "%s (%s): %d samples to learn from, %d to judge by, %d left out\n", r.Model, r.Detail, r.Rows, r.HeldOutRows, r.LeftOut)
	_, err := fmt.Fprintf(w, "mean absolute error %.2f h of waits of %.2f h on average, Spearman %.3f; submits from an expected reward of %+.2f h\n", r.MAEHours, r.MeanHours, r.Spearman, r.FromHours)
	return err
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
