package cli

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/mirage/network"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/registry"
)

func newTrainCommand(env *cli.Env) *cobra.Command {
	var kind, out, until, zone string
	var s model.Settings
	var in batches
	var asJSON bool
	c := &cobra.Command{
		Use:   "train DIR|BATCH.pickle...",
		Short: "learn from samples how long a successor will wait",
		Long: `Learn from samples how long a successor will wait. Of each folder the later
part judges the model. Folders made with other --nodes or --load show it more
kinds of weeks than the log has.

A file is a batch that the original program pickled (data_0.pickle, or several
merged), of which nothing is executed; --start and --interval are those of the
run that made it.

Kinds of models:

` + learners().Help(),
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
			learner, err := learners().Find(kind)
			if err != nil {
				return cli.Usagef("--model: %w", err)
			}
			sets, err := in.load(env, args, learner.View.Reduce, zone)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("forecast") && slices.ContainsFunc(sets, func(set *samples.Set) bool { return set.Original }) {
				s.Forecast = false // such samples hold none
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
	f.StringVar(&kind, "model", "boost", "kind of model: "+strings.Join(learners().Names(), ", "))
	f.StringVar(&out, "out", "", "model file to write")
	f.StringVar(&until, "until", "", "leave out episodes of which some successor started on that day or later")
	f.StringVar(&zone, "zone", trace.DefaultZone, "time zone of --until")
	f.Float64Var(&s.OverlapCost, "overlap-cost", 1, "cost of an hour of overlap against one of interruption")
	f.BoolVar(&s.Forecast, "forecast", true, "let the model see what the queue itself predicts, by simulating it with time limits; without it no model beats a simple baseline in a busier month")
	f.Uint64Var(&s.Seed, "seed", 1, "seed of whatever is random")
	f.IntVar(&s.Threads, "workers", runtime.GOMAXPROCS(0), "goroutines; the model does not depend on it")
	f.StringVar(&in.start, "start", "", "of batches of the original program: when the first predecessor was submitted")
	f.StringVar(&in.interval, "interval", "6h", "of batches of the original program: time between two predecessors")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Require(c, "out")
	return c
}

func printTraining(w io.Writer, r model.Report) error {
	fmt.Fprintf(w, "%s (%s): %d samples to learn from, %d to judge by, %d left out\n", r.Model, r.Detail, r.Rows, r.HeldOutRows, r.LeftOut)
	if r.MeanHours == 0 { // it learns to decide, and predicts no wait
		_, err := fmt.Fprintf(w, "its decisions cost %.2f h on those to judge by\n", r.CostHours)
		return err
	}
	_, err := fmt.Fprintf(w, "mean absolute error %.2f h of waits of %.2f h on average, Spearman %.3f; submits from an expected reward of %+.2f h\n", r.MAEHours, r.MeanHours, r.Spearman, r.FromHours)
	return err
}

// learners are all kinds of models, the experimental ones last.
func learners() registry.List[model.Learner] {
	return append(model.Learners(), network.Learners()...)
}
