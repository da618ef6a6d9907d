package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/allox-est/estimate"
	"github.com/foretime/foretime/allox-est/jobspec"
	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/allox-est/report"
	"github.com/foretime/foretime/allox-est/runner"
	"github.com/foretime/foretime/allox-est/sampling"
	"github.com/foretime/foretime/allox-est/yardstick"
	"github.com/foretime/foretime/shared/cli"
)

// jobFlags name a job, by a file or on the command line, and its journal.
type jobFlags struct {
	epochs  int
	unit    string
	threads int
	pattern string
	devices []string
	journal string
	seed    uint64
	method  string
	json    bool
	set     map[string]string
}

func (f *jobFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.epochs, "epochs", 0, "length of the job, in place of the file's; needed for a command without a file")
	flags.StringVar(&f.unit, "unit", jobspec.Epoch, "what --epochs and the laps count: epoch, or step where an epoch is too long to sample ({steps} in the command)")
	flags.IntVar(&f.threads, "threads", 1, "threads that {hw} asks for, in place of the file's")
	flags.StringVar(&f.pattern, "pattern", "", "regular expression of the lines that end an epoch, in place of the file's")
	flags.StringSliceVar(&f.devices, "device", nil, "devices to estimate, cpu and gpu (default: those of the job)")
	flags.StringVar(&f.journal, "journal", "", "journal of the runs (default: NAME.jsonl)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the order of samples")
	flags.StringVar(&f.method, "method", string(estimate.Auto), fmt.Sprintf("how to estimate, one of %v", estimate.Methods()))
	flags.StringToStringVar(&f.set, "set", nil, "parameters of the job, NAME=VALUE, in place of the file's")
	flags.BoolVar(&f.json, "json", false, "print JSON")
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

// spec returns the job, and fills in the flags that follow from it.
func (f *jobFlags) spec(cmd *cobra.Command, args []string) (*jobspec.Spec, error) {
	var spec *jobspec.Spec
	var err error
	if cmd.ArgsLenAtDash() == 0 {
		spec = &jobspec.Spec{Command: args, Devices: map[string]jobspec.Device{jobspec.CPU: {Threads: f.threads}}}
	} else if spec, err = jobspec.Load(args[0]); err != nil {
		return nil, err
	}
	changed := cmd.Flags().Changed
	if changed("threads") {
		cpu := spec.Device(jobspec.CPU)
		cpu.Threads = f.threads
		spec.Devices[jobspec.CPU] = cpu
	}
	if changed("pattern") {
		spec.Progress = jobspec.Progress{Pattern: f.pattern}
	}
	if changed("unit") {
		spec.Unit = unit(f.unit)
	}
	if changed("epochs") {
		spec.Epochs = f.epochs
	}
	if err := params(spec, f.set); err != nil {
		return nil, err
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
	if !slices.Contains(estimate.Methods(), estimate.Method(f.method)) {
		return nil, cli.Usagef("--method %s: want one of %v", f.method, estimate.Methods())
	}
	if f.journal == "" {
		f.journal = spec.Name + ".jsonl"
	}
	return spec, nil
}

func (f *jobFlags) settings() estimate.Settings {
	return estimate.Settings{Method: estimate.Method(f.method)}
}

// print writes a report to stdout. The error is that of a report without any
// estimate.
func (f *jobFlags) print(env *cli.Env, r *report.Report) error {
	if f.json {
		if err := env.WriteJSON(r); err != nil {
			return err
		}
		return r.Err()
	}
	if err := r.WriteHead(env.Stdout); err != nil {
		return err
	}
	if rows := r.Rows(); len(rows) > 0 {
		table := cli.Table{Header: report.Header()}
		for _, row := range rows {
			cells := make([]any, len(row))
			for i, cell := range row {
				cells[i] = cell
			}
			table.Add(cells...)
		}
		if _, err := table.WriteTo(env.Stdout); err != nil {
			return err
		}
	}
	if err := r.WriteNotes(env.Stdout); err != nil {
		return err
	}
	return r.Err()
}

// unit is a unit as a description holds it, which says nothing of epochs.
func unit(name string) string {
	if name == jobspec.Epoch {
		return ""
	}
	return name
}

// sampleFlags say how runs are made.
type sampleFlags struct {
	budget      float64
	target      float64
	timeout     time.Duration
	weight      int
	cgroup      bool
	fresh       bool
	keyEnv      []string
	history     string
	checkpoints string // folder
	logs        string
}

func (f *sampleFlags) register(flags *pflag.FlagSet) {
	flags.Float64Var(&f.budget, "budget", 0, "share of the epochs to sample on each device (default: the job's, or 0.03)")
	flags.Float64Var(&f.target, "target", 0, "relative half-width of the interval at which sampling stops (default: the job's, or 0.05)")
	flags.DurationVar(&f.timeout, "timeout", 0, "longest time of one run (default: the job's for samples, or none)")
	flags.IntVar(&f.weight, "cpu-weight", 0, "weight of the job's cgroup on the processor, 1 to 10000, to shield it from other work (default: as any other)")
	flags.BoolVar(&f.fresh, "fresh", false, "make new runs, whatever the journal holds")
	flags.StringSliceVar(&f.keyEnv, "key-env", nil, "variables that change how long the job takes: runs made with other values do not count (those that the command mentions, and OMP_NUM_THREADS and the like, are held anyway)")
	flags.StringVar(&f.logs, "logs", "", "folder for what each run prints, a file a run")
	flags.StringVar(&f.history, "speed-history", "", "log of this host's speed in all runs, none for none (default: allox-est/speeds-HOST.jsonl in the user's cache folder)")
	flags.BoolVar(&f.cgroup, "cgroup", true, "hold each run in a cgroup where one can be made")
}

func (f *sampleFlags) check() error {
	if !(f.budget >= 0 && f.budget <= 1) || !(f.target >= 0 && f.target <= 1) {
		return cli.Usagef("--budget and --target are shares from 0 to 1")
	}
	if f.weight < 0 || f.weight > 10000 || f.timeout < 0 {
		return cli.Usagef("--cpu-weight is 1 to 10000, --timeout not negative")
	}
	return nil
}

// sampler returns a Sampler for this machine, and what ends its progress bar.
func (f *sampleFlags) sampler(env *cli.Env, spec *jobspec.Spec, j *journal.Journal, seed uint64) (s *sampling.Sampler, done func()) {
	settings := runner.Settings{Guard: guardCommand()}
	if f.cgroup {
		settings.Cgroup, settings.Shares, settings.Memory = runner.Hierarchies()
		settings.SystemdRun = runner.SystemdRun()
	}
	progress, done := watch(env, spec)
	return &sampling.Sampler{
		Spec: spec, Journal: j, Runner: runner.New(settings),
		Limits: sampling.Limits{Budget: f.budget, Target: f.target}, Seed: seed,
		HalfWidth: func(samples []journal.Run, device string) float64 {
			e, err := estimate.New(samples, estimate.Job{Epochs: spec.Epochs, Device: device, Every: spec.Every}, estimate.Settings{})
			if err != nil {
				return math.Inf(1)
			}
			return e.HalfWidth()
		},
		Env: os.Environ(), Weight: f.weight, Timeout: f.timeout,
		Machine: sampling.FindMachine("/", runtime.NumCPU()), Now: time.Now, Progress: progress,
		History: history(env, f.history), Logs: f.logs, Checkpoints: f.checkpoints,
		Yardstick: func() sampling.Yardstick { return yardstick.Start() },
	}, done
}

// history is the log of this host's speed; nil where none is wanted or there is
// no place for it.
func history(env *cli.Env, path string) *yardstick.History {
	switch path {
	case "none":
		return nil
	case "":
		cache, err := os.UserCacheDir()
		host, err2 := os.Hostname()
		if err := errors.Join(err, err2); err != nil {
			env.Log.Debugf("no history of this host's speed: %v", err)
			return nil
		}
		path = filepath.Join(cache, "allox-est", "speeds-"+host+".jsonl")
	}
	return &yardstick.History{Path: path}
}

// watch draws what is left of the budget, and logs runs that failed.
func watch(env *cli.Env, spec *jobspec.Spec) (progress func(sampling.Event), done func()) {
	var bar *cli.Progress
	told := map[string]bool{} // failures
	return func(e sampling.Event) {
			if bar == nil {
				bar = env.Progress("", 100)
			}
			if e.Step.Kind == journal.Sample {
				left := max(0, e.Budget-e.Spent)
				bar.Describe(fmt.Sprintf("%s on %s: sample of %d epochs, %.0f epochs of the budget left", spec.Name, e.Step.Device, e.Step.Epochs, left))
				bar.Set(int64(min(99, 100*e.Spent/max(1, e.Budget))))
			} else {
				bar.Describe(fmt.Sprintf("%s on %s: whole run of %d epochs", spec.Name, e.Step.Device, e.Step.Epochs))
			}
			if e.Run != nil && e.Run.Failed() && !told[e.Step.Device+e.Run.Error] {
				told[e.Step.Device+e.Run.Error] = true
				env.Log.Warnf("%s on %s, %d epochs: %s", spec.Name, e.Step.Device, e.Step.Epochs, e.Run.Error)
			}
		}, func() {
			if bar != nil {
				bar.Done()
			}
		}
}
