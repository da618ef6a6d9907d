package cli

import (
	"cmp"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/model"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
)

func newTrainCommand(env *cli.Env) *cobra.Command {
	var kind, path, until string
	var s model.Settings
	var e episodes
	var out cli.Output
	c := &cobra.Command{
		Use:   "train LOG | DIR...",
		Short: "learn from a log how long a successor will wait",
		Long: `Learn how long a successor will wait from samples: of a log the service pairs from
--start on are played on its simulated queue, and what was known at each decision
and what came of it is kept in the folder OUT.samples, so that a run that was
stopped goes on where it was. Folders that mirage generate made take the place of
the log, and may show more kinds of weeks. Of each the later part judges the model.

Kinds of models:

` + model.Learners().Help(),
		Example: `  mirage train ls6-a100.log --config config.json --start 2022-11-01 --until 2023-02-01 --out boost.json
  mirage train samples/ more-samples/ --model boost --until 2023-02-01 --out boost.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.load(); err != nil {
				return err
			}
			if until != "" {
				location, err := time.LoadLocation(cmp.Or(e.Log.Zone, trace.DefaultZone))
				if err != nil {
					return cli.Usagef("log.zone: %w", err)
				}
				if s.Until, err = trace.ParseDate(until, location); err != nil {
					return cli.Usagef("--until: %w", err)
				}
			}
			if err := checkOverlap("overlap-cost", s.OverlapCost); err != nil {
				return err
			}
			learner, err := model.Learners().Find(kind)
			if err != nil {
				return cli.Usagef("--model: %w", err)
			}
			if info, err := os.Stat(args[0]); len(args) == 1 && err == nil && !info.IsDir() {
				if e.start == "" {
					return cli.Usagef("%s is a log: --start says when its first episode begins", args[0])
				}
				dir := path + ".samples"
				if _, err := e.generate(cmd.Context(), env, args[0], dir, samplesProbes, samples.Shard{}); err != nil {
					return err
				}
				args[0] = dir
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
				p.Line("mean absolute error %v of waits of %v on average, Spearman %s; submits from an expected reward of %v",
					lasting(report.MAEHours), lasting(report.MeanHours), cli.Text(report.Spearman), lasting(report.FromHours))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "model", "boost", "kind of model: "+strings.Join(model.Learners().Names(), ", "))
	cli.Values(c, "model", model.Learners().Names()...)
	f.StringVar(&path, "out", "", "model file to write")
	cli.OutputFile(c, "out")
	f.StringVar(&until, "until", "", "leave out episodes of which some successor started on that day or later")
	f.Float64Var(&s.OverlapCost, "overlap-cost", 1, "cost of an hour of overlap against one of interruption")
	f.BoolVar(&s.Forecast, "forecast", true, "let the model see what the queue itself predicts, by simulating it with time limits; without it no model beats a simple baseline in a busier month")
	f.Uint64Var(&s.Seed, "seed", 1, "seed of whatever is random")
	e.flags(c, 684, 4*3600)
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
