package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/launch"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/allox-est/internal/report"
	"github.com/foretime/foretime/allox-est/internal/sampling"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// jobFlags are the flags that describe a job and name its journal.
type jobFlags struct {
	epochs  int
	pattern string
	devices []string
	journal string
	method  string
	set     []string
	stages  string
	whole   bool // the whole job runs: the command need not take its length
}

func (f *jobFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.IntVar(&f.epochs, "epochs", 0, "epochs of the job (default: the job file's); needed for a command without a file")
	flags.StringVar(&f.pattern, "pattern", "", "regular expression of progress lines; its group matches the epoch number (default: the job file's, or found in the output)")
	flags.StringSliceVar(&f.devices, "device", nil, "devices to estimate, cpu and gpu (default: the job's)")
	cli.Values(c, "device", jobspec.CPU, jobspec.GPU)
	flags.StringVar(&f.journal, "journal", "", "journal of the runs (default: NAME.jsonl)")
	flags.StringVar(&f.stages, "stages", "", "epoch ranges in which the work differs, such as \"0-600 600-1200\"; {stage} in the command becomes the epoch after which a sample begins")
	flags.StringArrayVar(&f.set, "set", nil, "`NAME=VALUE`: a parameter of the job, or an entry of the job file by its path, such as unit=step or sample.budget=0.05 (may be repeated)")
}

// registerMethod adds --method, for commands that estimate from a journal.
func (f *jobFlags) registerMethod(c *cobra.Command) {
	c.Flags().StringVar(&f.method, "method", string(estimate.Auto), fmt.Sprintf("estimation method, one of %v", estimate.Methods()))
	cli.Values(c, "method", estimate.Methods()...)
}

// exclude returns a usage error if one of the flags is given that have no effect with
// another one.
func exclude(cmd *cobra.Command, with string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s: not possible with --%s", name, with)
		}
	}
	return nil
}

// jobArgs accepts one file, or a command after --.
func jobArgs(cmd *cobra.Command, args []string) error {
	switch dash := cmd.ArgsLenAtDash(); {
	case dash == 0 && len(args) > 0:
		return nil
	case dash < 0 && len(args) == 1:
		return nil
	}
	return errors.New("want JOB.yaml, or --epochs N -- COMMAND with {epochs} in it")
}

// spec returns the job, and fills in the flags that follow from it. The journal is an input.
func (f *jobFlags) spec(env *cli.Env, cmd *cobra.Command, args []string) (*jobspec.Spec, error) {
	var spec *jobspec.Spec
	var err error
	if cmd.ArgsLenAtDash() == 0 {
		spec = &jobspec.Spec{Command: args, Devices: map[string]jobspec.Device{jobspec.CPU: {Threads: 1}}}
	} else if spec, err = jobspec.Load(args[0]); err != nil {
		return nil, err
	}
	changed := cmd.Flags().Changed
	if changed("pattern") {
		spec.Progress = jobspec.Progress{Pattern: f.pattern}
	}
	if changed("epochs") {
		spec.Epochs = f.epochs
	}
	for _, text := range f.set {
		if err := spec.Set(text); err != nil {
			return nil, cli.Usagef("--set: %w", err)
		}
	}
	spec.Whole = f.whole
	if f.stages != "" {
		if spec.Stages, err = jobspec.ParseStages(f.stages); err != nil {
			return nil, cli.Usagef("--stages: %w", err)
		}
	}
	if err := spec.Check(); err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	if len(f.devices) == 0 {
		for _, name := range []string{jobspec.CPU, jobspec.GPU} {
			if _, ok := spec.Devices[name]; ok {
				f.devices = append(f.devices, name)
			}
		}
	}
	for i, name := range f.devices {
		if name != jobspec.CPU && name != jobspec.GPU || slices.Contains(f.devices[:i], name) {
			return nil, cli.Usagef("--device %s: want cpu, gpu or both, each once", name)
		}
	}
	if f.method != "" && !slices.Contains(estimate.Methods(), estimate.Method(f.method)) {
		return nil, cli.Usagef("--method: unknown method %q: want one of %v", f.method, estimate.Methods())
	}
	f.journal = cmp.Or(f.journal, spec.Name+".jsonl")
	return spec, env.Input(f.journal)
}

// settings returns the settings for estimating a job on this machine.
func (f *jobFlags) settings() estimate.Settings {
	return estimate.Settings{Method: estimate.Method(f.method), Real: true}
}

// printReport prints a report and draws the runs on the first device. It returns an error if
// no device has an estimate.
func (f *jobFlags) printReport(env *cli.Env, answer *cli.Output, r *report.Report, j *journal.Journal) error {
	err := r.Err() // it gives the reasons
	if err == nil || answer.JSON() {
		err = errors.Join(answer.Print(env, r, func(p *cli.Page) { showReport(p, r) }), err)
	}
	return errors.Join(err, answer.Draw(func() (chart.Chart, error) { return r.EpochPlot(j, f.devices[0]) }))
}

// showReport prints doubts about the samples, a table, how each estimate was made,
// and warnings.
func showReport(p *cli.Page, r *report.Report) {
	for _, doubt := range r.Unsure {
		p.Line("%s", doubt)
	}
	if rows := r.Rows(); len(rows) > 0 {
		header := []string{"device", "time", "estimate (s)", "low (s)", "high (s)"}
		compared := slices.ContainsFunc(rows, func(row report.Row) bool { return row.Actual != nil })
		if compared {
			header = append(header, "actual (s)", "error")
		}
		t := p.Table(header...)
		for _, row := range rows {
			cells := []any{row.Device, row.Clock, row.Value, row.Low, row.High}
			switch {
			case row.Actual != nil:
				cells = append(cells, row.Actual, fmt.Sprintf("%+.1f %%", 100*row.Error))
			case compared:
				cells = append(cells, nil, nil)
			}
			t.Add(cells...)
		}
	}
	for _, note := range r.Notes() {
		p.Line("%s", note)
	}
}

// sampleFlags limit the sampling. The job file says how runs are made.
type sampleFlags struct {
	budget float64
	fresh  bool
}

func (f *sampleFlags) register(flags *pflag.FlagSet) {
	flags.Float64Var(&f.budget, "budget", 0, "largest time of the samples on each device, relative to the predicted time of the job (default: the job's, or 0.03; one sample is always made)")
	flags.BoolVar(&f.fresh, "fresh", false, "ignore the runs in the journal and make new ones")
}

// limit replaces the job's budget by that of --budget.
func (f *sampleFlags) limit(spec *jobspec.Spec) error {
	if !(f.budget >= 0 && f.budget <= 1) {
		return cli.Usagef("--budget %v: want a fraction from 0 to 1", f.budget)
	}
	spec.Sample.Budget = cmp.Or(f.budget, spec.Sample.Budget)
	if _, long := spec.Lengths(); f.budget > 0 && float64(long) > spec.Sample.Budget*float64(spec.Epochs)+1e-9 {
		return cli.Usagef("--budget %v: too small: a sample takes %d of %d epochs; --keep uses the job itself as the sample", spec.Sample.Budget, long, spec.Epochs)
	}
	return nil
}

// newSampler returns a Sampler for this machine, and a function that ends its progress bar.
func newSampler(env *cli.Env, spec *jobspec.Spec, j *journal.Journal) (s *sampling.Sampler, done func()) {
	settings := launch.Settings{Guard: helper("guard")}
	progress, done := watch(env, spec)
	return &sampling.Sampler{
		Plan: sampling.Plan{Spec: spec, Predict: func(samples []journal.Run, device string) sampling.Forecast {
			return forecast(samples, report.DeviceJob(spec, device))
		}},
		Journal: j, Runner: launch.New(settings),
		Env: os.Environ(), Machine: thisMachine(), Progress: progress, Counted: announceCounter(env),
	}, done
}

// forecast returns the predicted time of a job and of further samples.
func forecast(samples []journal.Run, job estimate.Job) sampling.Forecast {
	e, err := estimate.New(samples, job, estimate.Settings{})
	if err != nil {
		return sampling.Forecast{HalfWidth: math.Inf(1)}
	}
	f := sampling.Forecast{Total: e.Wall.Value, Unit: e.Wall.Value / float64(job.Epochs), HalfWidth: e.HalfWidth}
	if e.Segments != nil {
		f.Once, f.Unit = e.Segments.Setup+e.Segments.Teardown, e.Segments.Epoch
	}
	return f
}

// announceCounter returns a function that prints what counts the units of runs, once.
func announceCounter(env *cli.Env) func(*progress.Reader) {
	last := ""
	return func(r *progress.Reader) {
		if counter := r.Describe(); counter != "" && counter != last {
			last = counter
			env.Log.Infof("counting %s; --pattern selects other lines", counter)
		}
	}
}

// availableDevices returns the devices without a GPU that this machine does not have.
func availableDevices(env *cli.Env, devices []string) ([]string, error) {
	if thisMachine().GPU || !slices.Contains(devices, jobspec.GPU) {
		return devices, nil
	}
	left := slices.DeleteFunc(slices.Clone(devices), func(name string) bool { return name == jobspec.GPU })
	if len(left) == 0 {
		return nil, errors.New("--device gpu: this machine has no GPU")
	}
	env.Log.Warn("this machine has no GPU: the job is not sampled on gpu")
	return left, nil
}

// thisMachine describes this machine for the records of runs.
func thisMachine() sampling.Machine { return sampling.FindMachine("/", runtime.NumCPU()) }

// watch shows the progress of each run in a progress bar.
func watch(env *cli.Env, spec *jobspec.Spec) (progress func(sampling.Event), done func()) {
	var bar *cli.Progress
	return func(e sampling.Event) {
			if bar == nil {
				bar = env.Progress("", 100)
			}
			kind := "sample"
			if e.Step.Kind == journal.Full {
				kind = "whole run"
			}
			bar.Describe(fmt.Sprintf("%s on %s: %s of %s", spec.Name, e.Step.Device, kind, plural.Count(e.Step.Epochs, "epoch")))
			bar.Set(int64(min(99, 100*e.Done)))
		}, func() {
			if bar != nil {
				bar.Done()
			}
		}
}
