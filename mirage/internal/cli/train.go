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
		Use:   "train LOG|DIR... --out FILE",
		Short: "Train a model of a successor's wait from a log",
		Long: `Train a model that predicts how long a successor will wait.

From a log, service pairs from --start on are simulated on its queue. Instead of a log,
give one or more directories of samples written by mirage generate. The later part of
each set of samples tests the model.

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
			sets, err := e.sets(cmd, env, args)
			if err != nil {
				return err
			}
			s.Threads = runtime.GOMAXPROCS(0) // does not change the model
			trained, report, err := model.Train(cmd.Context(), kind, learner, sets, s)
			if err != nil {
				return err
			}
			if err := trained.Save(path); err != nil {
				return err
			}
			return out.Print(env, report, func(p *cli.Page) {
				p.Line("%s (%s): %d training samples, %d test samples, %d not used", report.Model, report.Detail, report.Rows, report.HeldOutRows, report.LeftOut)
				p.Line("mean absolute error %v for a mean wait of %v, Spearman %s; submits at an expected reward of at least %v",
					lasting(report.MAEHours), lasting(report.MeanHours), cli.Text(report.Spearman), lasting(report.FromHours))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "model", "boost", "kind of model: "+strings.Join(model.Learners().Names(), ", "))
	cli.Values(c, "model", model.Learners().Names()...)
	f.StringVar(&path, "out", "", "model file to write")
	cli.OutputFile(c, "out")
	f.StringVar(&until, "until", "", "use only episodes whose successors all started before that day")
	f.Float64Var(&s.OverlapCost, "overlap-cost", 1, "cost of an hour of overlap in hours of interruption")
	f.Uint64Var(&s.Seed, "seed", 1, "random seed")
	e.flags(c, 684, 4*3600)
	out.Flags(c, model.Report{})
	cli.First(c, "model", "out", "until", "overlap-cost", "seed")
	cli.Require(c, "out")
	return c
}

// sets returns the samples that a log generates, or those of directories.
func (e *episodes) sets(cmd *cobra.Command, env *cli.Env, paths []string) (sets []*samples.Set, err error) {
	info, err := os.Stat(paths[0])
	if len(paths) == 1 && err == nil && !info.IsDir() {
		if e.start == "" {
			return nil, cli.Usagef("%s is a log: give the begin of its first episode by --start", paths[0])
		}
		set, err := e.generate(cmd.Context(), env, paths[0], samplesProbes)
		return []*samples.Set{set}, err
	}
	for _, name := range []string{"start", "episodes", "interval", "history", "nodes"} {
		if cmd.Flags().Changed(name) && err == nil {
			return nil, cli.Usagef("--%s: not possible with directories of samples", name)
		}
	}
	for _, dir := range paths {
		set, err := samples.Load(dir)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}
