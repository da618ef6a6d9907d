package cli

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/prediction"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// builtInRates holds the rates of one thread on a machine of ours, as calibrate writes
// them.
//
//go:embed rates.json
var builtInRates []byte

// newCatalog returns the rates of files and the built-in ones, for an execution provider.
func newCatalog(provider string) *prediction.Catalog {
	path, err := calibrationPath("", provider)
	if err != nil {
		path = "" // there is no home directory
	}
	return &prediction.Catalog{Default: path, Builtin: builtInRates, Provider: provider}
}

// calibrating holds the flags of calibrate.
type calibrating struct {
	with running
	out  string
	runs int
	// threads are the numbers of threads to measure with: one and all cores, or that of --threads.
	threads []int
	size    float64 // factor on the width of the models made here
	// limit is the time after which no more models are measured than an interval needs; 0 is
	// none.
	limit time.Duration
	start time.Time // of the command
}

// newCalibrateCommand returns calibrate, which measures this machine's rates.
func newCalibrateCommand(env *cli.Env) *cobra.Command {
	var o calibrating
	var out cli.Output
	c := &cobra.Command{
		Use:     "calibrate",
		Example: "  edgeprof calibrate --out board.json",
		Short:   "Measure how fast this machine runs each class of operator",
		Long: `Measure how fast this machine runs each class of operator, with one thread and with
all cores: small models of every family run a few times each. The rates make
predictions for models that cannot run here, for devices of this kind in a list of
rank or serve, and for counts alone. On a busy machine it stops
at the limit.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cal, err := o.calibrate(cmd.Context(), env)
			if err != nil {
				return err
			}
			return out.Print(env, cal, func(p *cli.Page) { showCalibration(p, cal, o.out) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "file to write (default: the one that rank reads)")
	cli.OutputFile(c, "out")
	f.IntVar(&o.runs, "bursts", 6, "bursts of timed inferences per model")
	f.DurationVar(&o.limit, "limit", 200*time.Second, "time after which only as many models are measured as an interval needs; 0 is none")
	f.Float64Var(&o.size, "width", 1, "factor on the width of the small models: less than 1 for a slow machine")
	o.with.flags(c)
	o.with.providerFlag(c)
	out.Flags(c, profiler.Calibration{})
	cli.First(c, "out", "threads", "json")
	return c
}

func showCalibration(p *cli.Page, cal *profiler.Calibration, path string) {
	table := p.Table("model", "measured (ms)", "predicted (ms)", "ratio")
	for _, e := range cal.Errors {
		table.Add(e.Model, 1000*e.Measured, 1000*e.Predicted, e.Ratio())
	}
	p.Line("each family is predicted by rates fitted to the others; interval %.2f to %.2f times", cal.Low, cal.High)
	if all := cal.All; all != nil {
		p.Line("the table is for 1 thread; with %d threads the interval is %.2f to %.2f times", all.Facts.Threads, all.Low, all.High)
	}
	p.Line("%s", cal.Facts.Library)
	p.Line("%s", path)
}

// calibrate measures this machine, fits rates and writes them.
func (o *calibrating) calibrate(ctx context.Context, env *cli.Env) (*profiler.Calibration, error) {
	if o.runs < 1 || !(o.size > 0 && o.size <= 1) {
		return nil, cli.Usagef("--runs %d --size %v: want runs of 1 or more and a size above 0, at most 1", o.runs, o.size)
	}
	if o.out == "" && cli.IsForeign(os.Getenv("HOME")) {
		return nil, cli.Usagef("HOME is another user's: name a file with --out")
	}
	o.start = time.Now()
	var err error
	if o.out, err = calibrationPath(o.out, o.with.provider); err != nil {
		return nil, err
	}
	o.threads = []int{o.with.threads}
	if err := o.with.require(ctx, env); err != nil {
		return nil, err
	}
	if o.threads[0] == 0 {
		o.threads = slices.Compact([]int{1, o.with.threads})
	}
	machine, err := thisMachine(ctx, env.Root)
	if err != nil {
		return nil, err
	}
	if used := machine.Load.ProbedTasks; used != nil && *used > profiler.Busy {
		env.Log.Warnf("other work uses %.1f processors: waiting time is subtracted, but the rates are less certain than on an idle machine", *used)
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return nil, err
	}
	cases, err := o.measureModels(ctx, env)
	if err != nil {
		return nil, err
	}
	facts := o.with.facts(&machine)
	if facts.ProbedTasks, err = mostTasks(ctx, env.Root, &machine); err != nil {
		return nil, err
	}
	cal, err := o.fit(cases, facts)
	if err != nil {
		return nil, err
	}
	return cal, file.WriteJSON(o.out, cal)
}

// fit returns the calibration for the first number of threads, with that for the last.
func (o *calibrating) fit(cases []profiler.Case, facts profiler.Facts) (*profiler.Calibration, error) {
	var all []*profiler.Calibration
	for _, n := range o.threads {
		facts.Threads = n
		ofThreads := slices.DeleteFunc(slices.Clone(cases), func(c profiler.Case) bool { return c.Threads != n })
		cal, err := profiler.Calibrate(ofThreads, facts)
		if err != nil {
			return nil, err
		}
		all = append(all, cal)
	}
	if len(all) > 1 {
		all[0].All = all[1]
	}
	return all[0], nil
}

// measureModels runs small models of every family as rank runs a user's.
func (o *calibrating) measureModels(ctx context.Context, env *cli.Env) ([]profiler.Case, error) {
	dir, err := file.NewScratch("", "edgeprof-")
	if err != nil {
		return nil, err
	}
	defer file.RemoveScratch(dir)
	jobs, err := o.jobs(ctx, dir)
	if err != nil {
		return nil, err
	}
	bar := env.Progress("calibrate", int64(len(jobs)))
	defer bar.Done()
	var cases []profiler.Case
	judged := 0
	for _, job := range jobs {
		if o.limit > 0 && time.Since(o.start) > o.limit && judged >= profiler.FewestModels*len(o.threads) {
			env.Log.Warnf("stopped after %v: %d of %d measurements are made; the processors do other work, and --limit allows more time", o.limit, len(cases), len(jobs))
			break
		}
		one := o.with
		one.threads = job.threads
		m, err := one.profile(ctx, job.path, job.analysis, o.runs, o.runs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", job.path, err)
		}
		m.Model = strings.TrimSuffix(filepath.Base(job.path), ".onnx")
		m.Family = job.family
		cases = append(cases, m)
		if job.family != profiler.Operators {
			judged++
		}
		bar.Add(1)
	}
	return cases, nil
}

// calibrationPath returns the given file, or the one of a provider in the user's configuration
// directory.
func calibrationPath(path, provider string) (string, error) {
	if path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("%w; name a file with --out", err)
	}
	name := strings.TrimSuffix("calibration-"+provider, "-"+providers[0])
	return filepath.Join(dir, "foretime", "edgeprof", name+".json"), nil
}
