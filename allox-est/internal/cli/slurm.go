package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/report"
	"github.com/foretime/foretime/allox-est/internal/slurm"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// newSlurmCommand returns "slurm": the time limit for a batch job.
func newSlurmCommand(env *cli.Env) *cobra.Command {
	b := batch{env: env}
	cmd := &cobra.Command{
		Use:   "slurm --epochs N -- SCRIPT ... {epochs} ...",
		Short: "Find the --time limit of a Slurm batch job, and submit it",
		Long: `Sample a batch job where it will run, as one short Slurm job with the script's own
#SBATCH lines, and print the --time that it needs; --submit submits it. The script
takes its number of epochs as an argument. allox-est and the journal must have the
same paths on the nodes. Samples of an earlier call are reused.`,
		Example: `  allox-est slurm --epochs 500 -- train.sbatch --epochs {epochs}
  allox-est slurm --epochs 500 --quantile 0.99 --submit -- train.sbatch --epochs {epochs}`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
				return errors.New("want -- SCRIPT with {epochs} among its arguments")
			}
			return nil
		},
		RunE: b.run,
	}
	flags := cmd.Flags()
	flags.IntVar(&b.epochs, "epochs", 0, "epochs of the job")
	flags.Float64Var(&b.quantile, "quantile", 0.95, "fraction of such jobs for which the limit suffices")
	flags.StringVar(&b.journal, "journal", "", "journal of the runs (default: SCRIPT.jsonl)")
	flags.StringVar(&b.pattern, "pattern", "", "regular expression of the output lines that end an epoch, if the job makes no time-writer report")
	flags.StringVar(&b.device, "device", jobspec.CPU, "device of the job, cpu or gpu")
	cli.Values(cmd, "device", jobspec.CPU, jobspec.GPU)
	flags.StringArrayVar(&b.options, "slurm-option", nil, "option of sbatch for both jobs (may be repeated); --time applies to the samples only, --array, --dependency and --time-min to the job only")
	flags.Float64Var(&b.budget, "budget", 0, "largest time of the samples, relative to the predicted time of the job (default: 0.03)")
	flags.BoolVar(&b.fresh, "fresh", false, "ignore the samples in the journal and make new ones")
	flags.BoolVar(&b.submit, "submit", false, "submit the job")
	b.answer.JSONFlag(cmd, timeLimit{})
	cli.Require(cmd, "epochs")
	cli.First(cmd, "epochs", "quantile", "submit", "device", "journal")
	return cmd
}

// sampleTime is the default time limit of the job that makes the samples.
const sampleTime = 30 * time.Minute

// batch holds the flags of "slurm".
type batch struct {
	env             *cli.Env
	epochs          int
	quantile        float64
	journal, device string
	pattern         string
	options         []string
	budget          float64
	fresh, submit   bool
	unused          bool // earlier jobs are, and that was said
	answer          cli.Output
}

func (b *batch) run(cmd *cobra.Command, args []string) error {
	if !(b.quantile > 0.5 && b.quantile < 1) {
		return cli.Usagef("--quantile %v: want a fraction above 0.5 and below 1", b.quantile)
	}
	script, err := slurm.Read(args[0])
	if err != nil {
		return err
	}
	spec := &jobspec.Spec{Command: script.Command(args[1:]...), Epochs: b.epochs, Progress: jobspec.Progress{Pattern: b.pattern}}
	if err := spec.Check(); err != nil {
		return &cli.UsageError{Err: err}
	}
	if b.journal == "" {
		b.journal = name(script) + ".jsonl"
	}
	estimated, err := b.known(cmd.Context(), spec, script, args[1:], true)
	var cut error // the job of samples was, and may have saved some
	if b.fresh || errors.Is(err, fs.ErrNotExist) || err == nil && estimated.Estimate == nil {
		if cut = b.sample(cmd, script, spec); cut != nil && !errors.Is(cut, slurm.ErrSlurm) {
			return cut
		}
		estimated, err = b.known(cmd.Context(), spec, script, args[1:], false)
	}
	if cut != nil && (err != nil || estimated.Estimate == nil || b.fresh) {
		return cut
	}
	if err != nil {
		return err
	}
	if cut != nil {
		b.env.Log.Warnf("the samples were cut off; what they had done counts: %v", cut)
	}
	if estimated.Estimate == nil {
		return fmt.Errorf("%s: no estimate: %s", b.journal, estimated.Error)
	}
	return b.printLimit(cmd, script, args[1:], estimated.Estimate)
}

func name(script *slurm.Script) string {
	name := filepath.Base(script.Path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// known returns the estimate from the journal's samples and from earlier jobs. Samples of
// an earlier call are logged with their age; those older than the script are not used.
func (b *batch) known(ctx context.Context, spec *jobspec.Spec, script *slurm.Script, args []string, earlier bool) (*report.Device, error) {
	flags := jobFlags{journal: b.journal, devices: []string{b.device}}
	j, err := flags.newest(b.env, spec)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(script.Path)
	if err != nil {
		return nil, err
	}
	runs := j.Of(spec.Hash(b.device), journal.Sample)
	if earlier = earlier && !b.fresh && len(runs) > 0; earlier && info.ModTime().After(runs[len(runs)-1].Start) {
		b.env.Log.Infof("%s is newer than its samples: sampling again", script.Path)
		return &report.Device{}, nil
	}
	var made journal.Identity
	if n := len(runs); n > 0 {
		made = runs[n-1].Identity
	}
	past := report.Past(spec, flags.devices, j, made)
	submitted, err := b.past(ctx, script, info.ModTime(), args, earlier)
	if err != nil {
		return nil, err
	}
	past[b.device] = append(past[b.device], submitted...)
	r := report.New(spec, flags.devices, j, estimate.Settings{Level: 2*b.quantile - 1, Past: past})
	cli.Warn(b.env, r.Warnings)
	if earlier && r.Devices[b.device].Estimate != nil {
		b.env.Log.Infof("%s of %s reused, the newest is %v old; --fresh makes new ones", plural.Count(len(runs), "sample"), b.journal, time.Since(runs[len(runs)-1].Start).Round(time.Second))
	}
	return r.Devices[b.device], nil
}

// sample runs the sampler as a batch job.
func (b *batch) sample(cmd *cobra.Command, script *slurm.Script, spec *jobspec.Spec) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	journalPath, err := filepath.Abs(b.journal)
	if err != nil {
		return err
	}
	argv := []string{self, "run", "--epochs", fmt.Sprint(b.epochs), "--device", b.device, "--pattern", b.pattern, "--journal", journalPath}
	if b.fresh {
		argv = append(argv, "--fresh")
	}
	if b.budget > 0 {
		argv = append(argv, "--budget", fmt.Sprint(b.budget))
	}
	argv = append(append(argv, "--"), spec.Command...)
	options := append([]string{"--job-name=" + name(script) + "-sample", "--time=" + slurm.Limit(sampleTime.Seconds()), "--output=" + journalPath + ".%j.out"}, slurm.ForSamples(b.options)...)
	output := ""
	err = script.Run(cmd.Context(), options, argv, func(job string) {
		output = fmt.Sprintf("%s.%s.out", b.journal, job)
		b.env.Log.Infof("job %s makes the samples; its output: %s", job, output)
	})
	if errors.Is(err, slurm.ErrSlurm) && output != "" {
		return fmt.Errorf("%w; see %s", err, output)
	}
	return err
}

// printLimit prints the time limit for an estimate, and submits the job if asked.
func (b *batch) printLimit(cmd *cobra.Command, script *slurm.Script, args []string, e *report.Estimate) error {
	if math.IsInf(e.Wall.High, 0) {
		return fmt.Errorf("%s: no upper bound for the time from these samples", b.journal)
	}
	args = b.fill(args)
	limit := 60 * float64(slurm.Minutes(e.Wall.High))
	a := timeLimit{Epochs: b.epochs, Quantile: b.quantile, Seconds: e.Wall.Value, Upper: e.Wall.High, Limit: slurm.Limit(e.Wall.High), Past: e.Past}
	if p, known := e.Wall.Exceeds(limit); known {
		a.TimeKill = &p
	}
	a.Memory = slurm.MemoryFor(e.Conditions.PeakBytes, e.Samples)
	a.Memory.GPUPeak = e.Conditions.GPUPeak
	if b.submit {
		var err error
		if a.Job, err = script.Submit(cmd.Context(), append([]string{"--time=" + a.Limit}, slurm.ForJob(b.options)...), args); err != nil {
			return err
		}
	}
	words := append([]string{"sbatch", "--time=" + a.Limit}, slurm.ForJob(b.options)...)
	if !script.AsksMemory(b.options) {
		words = append(words, fmt.Sprintf("--mem=%dM", a.Memory.LimitMiB))
	}
	line := slurm.Quote(append(append(words, script.Path), args...))
	return b.answer.Print(b.env, a, func(p *cli.Page) {
		p.Line("median %s; %s suffices for %g %% of such jobs", duration(a.Seconds), duration(a.Upper), 100*b.quantile)
		if a.Past > 0 {
			p.Line("corrected by %s in the journal and in Slurm's accounting", plural.Count(a.Past, "earlier run"))
		}
		if a.TimeKill != nil {
			p.Line("killed at --time=%s with probability %s", a.Limit, probability(*a.TimeKill))
		}
		p.Line("memory at most %s in the samples; killed at --mem=%dM with probability %.2g at most, if it does not grow after them", humanize.IBytes(uint64(a.Memory.PeakBytes)), a.Memory.LimitMiB, a.Memory.Kill)
		if a.Memory.GPUPeak > 0 {
			p.Line("memory on GPUs at most %s in the samples", humanize.IBytes(uint64(a.Memory.GPUPeak)))
		}
		p.Line("%s", line)
		if a.Job != "" {
			p.Line("submitted as job %s", a.Job)
		}
	})
}

// past returns what Slurm's accounting holds of earlier jobs of the same command and resources
// since the script was changed. That a cluster keeps no accounting is said once: when the
// samples are new.
func (b *batch) past(ctx context.Context, script *slurm.Script, changed time.Time, args []string, earlier bool) ([]history.Shape, error) {
	path, err := filepath.Abs(script.Path)
	if err != nil {
		return nil, err
	}
	jobs, err := slurm.History(ctx, os.Getuid(), time.Now())
	if err != nil {
		if !b.unused && !(earlier && errors.Is(err, slurm.ErrNoAccounting)) {
			b.env.Log.Warnf("earlier jobs are not used: %v", err)
		}
		b.unused = true
		return nil, nil
	}
	var past []history.Shape
	for _, j := range jobs {
		if !j.Start.Before(changed) && j.Ran(path, b.options, b.fill(args)) {
			past = append(past, history.Whole("job "+j.Job, j.Total(), true))
		}
	}
	return past, nil
}

// fill returns arguments with the number of epochs in them.
func (b *batch) fill(args []string) []string {
	filled := make([]string, len(args))
	for i, word := range args {
		filled[i] = strings.ReplaceAll(word, "{epochs}", fmt.Sprint(b.epochs))
	}
	return filled
}

// timeLimit is a time limit and the figures that it is based on.
type timeLimit struct {
	Epochs   int     `json:"epochs"`
	Quantile float64 `json:"quantile"`
	Seconds  float64 `json:"wall_seconds"`
	Upper    float64 `json:"wall_seconds_at_quantile"`
	Limit    string  `json:"time_limit"`
	// TimeKill is the probability that the job takes longer than Limit.
	TimeKill *float64     `json:"killed_at_time_limit,omitempty"`
	Memory   slurm.Memory `json:"memory"`
	Past     int          `json:"past_runs"` // that corrected the prediction
	Job      string       `json:"job,omitempty"`
}
