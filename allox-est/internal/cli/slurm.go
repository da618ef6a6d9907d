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

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/report"
	"github.com/foretime/foretime/allox-est/internal/slurm"
	"github.com/foretime/foretime/shared/cli"
)

// newSlurmCommand returns "slurm": the time limit of a batch job.
func newSlurmCommand(env *cli.Env) *cobra.Command {
	b := batch{env: env}
	cmd := &cobra.Command{
		Use:   "slurm --epochs N -- SCRIPT ... {epochs} ...",
		Short: "Sample a batch job on its cluster, and ask for the time it needs",
		Long: `Sample a batch job where it will run, as one short job with the script's own
#SBATCH lines, and say which --time it needs; --submit submits it. The script takes
its length as an argument. allox-est and the journal must be found on the nodes at
the same paths. The samples of an earlier call are used again.`,
		Example: `  allox-est slurm --epochs 500 -- train.sbatch --epochs {epochs}
  allox-est slurm --epochs 500 --quantile 0.99 --submit -- train.sbatch --epochs {epochs}`,
		Args: commandArgs("want -- SCRIPT with {epochs} among its arguments"),
		RunE: b.run,
	}
	flags := cmd.Flags()
	flags.IntVar(&b.epochs, "epochs", 0, "length of the job")
	flags.Float64Var(&b.quantile, "quantile", 0.95, "share of such jobs that the limit is to suffice for")
	flags.StringVar(&b.journal, "journal", "", "journal of the runs (default: SCRIPT.jsonl)")
	flags.StringVar(&b.pattern, "pattern", "", "regular expression of the lines of its output that end an epoch, where the job makes no time-writer report")
	flags.StringVar(&b.device, "device", jobspec.CPU, "what the job computes on, cpu or gpu")
	cli.Values(cmd, "device", jobspec.CPU, jobspec.GPU)
	flags.StringArrayVar(&b.options, "sbatch-option", nil, "option of sbatch, for both jobs; may be given several times")
	flags.BoolVar(&b.fresh, "fresh", false, "make new samples, whatever the journal holds")
	flags.BoolVar(&b.submit, "submit", false, "submit the job")
	b.answer.Flags(cmd)
	cli.Require(cmd, "epochs")
	cli.First(cmd, "epochs", "quantile", "submit", "device", "journal")
	return cmd
}

// sampleTime is the time limit of the job that makes the samples, where no option
// of sbatch says another.
const sampleTime = 30 * time.Minute

// batch is what the command line asks of "slurm".
type batch struct {
	env             *cli.Env
	epochs          int
	quantile        float64
	journal, device string
	pattern         string
	options         []string
	fresh, submit   bool
	answer          cli.Output
}

func (b *batch) run(cmd *cobra.Command, args []string) error {
	if !(b.quantile > 0.5 && b.quantile < 1) {
		return cli.Usagef("--quantile %v: want a share above 0.5 and below 1", b.quantile)
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
	estimated, err := b.known(spec, script)
	if b.fresh || errors.Is(err, fs.ErrNotExist) || err == nil && estimated.Estimate == nil {
		if err := b.sample(cmd, script, spec); err != nil {
			return err
		}
		estimated, err = b.known(spec, nil)
	}
	if err != nil {
		return err
	}
	if estimated.Estimate == nil {
		return fmt.Errorf("%s: no estimate: %s", b.journal, estimated.Error)
	}
	return b.ask(cmd, script, args[1:], estimated.Estimate)
}

func name(script *slurm.Script) string {
	name := filepath.Base(script.Path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// known is the estimate of the journal's samples. Where a script is given the
// samples are of an earlier call: their age is logged, and those of a script that
// has changed since do not count.
func (b *batch) known(spec *jobspec.Spec, script *slurm.Script) (*report.Device, error) {
	flags := jobFlags{journal: b.journal, devices: []string{b.device}}
	j, err := flags.newest(b.env, spec)
	if err != nil {
		return nil, err
	}
	r := report.New(spec, flags.devices, j, estimate.Settings{Level: 2*b.quantile - 1})
	cli.Warn(b.env, r.Warnings)
	runs := j.Of(journal.Key{Job: spec.Hash(b.device), Device: b.device}, journal.Sample)
	if script == nil || b.fresh || len(runs) == 0 {
		return r.Devices[b.device], nil
	}
	info, err := os.Stat(script.Path)
	if err != nil {
		return nil, err
	}
	newest := runs[len(runs)-1].Start
	if info.ModTime().After(newest) {
		b.env.Log.Infof("%s is newer than its samples", script.Path)
		return &report.Device{}, nil
	}
	b.env.Log.Infof("%d samples of %s are used again, the newest %v old; --fresh makes new ones", len(runs), b.journal, time.Since(newest).Round(time.Second))
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
	argv = append(append(argv, "--"), spec.Command...)
	options := append([]string{"--job-name=" + name(script) + "-sample", "--time=" + slurm.Limit(sampleTime.Seconds()), "--output=" + journalPath + ".%j.out"}, b.options...)
	err = script.Run(cmd.Context(), options, argv, func(job string) {
		b.env.Log.Infof("job %s makes the samples; its output: %s.%s.out", job, b.journal, job)
	})
	if errors.Is(err, slurm.ErrSlurm) {
		return fmt.Errorf("%w; see %s.*.out", err, b.journal)
	}
	return err
}

// ask prints the limit that follows from an estimate, or submits the job with it.
func (b *batch) ask(cmd *cobra.Command, script *slurm.Script, args []string, e *report.Estimate) error {
	if math.IsInf(e.Wall.High, 0) {
		return fmt.Errorf("%s: the samples bound no time", b.journal)
	}
	for i, word := range args {
		args[i] = strings.ReplaceAll(word, "{epochs}", fmt.Sprint(b.epochs))
	}
	factor, jobs, err := b.past(cmd.Context())
	if err != nil {
		return err
	}
	upper := e.Wall.High * factor
	a := asked{b.epochs, b.quantile, e.Wall.Value, upper, slurm.Limit(upper), jobs, factor, ""}
	if b.submit {
		if a.Job, err = script.Submit(cmd.Context(), append([]string{"--time=" + a.Limit}, b.options...), args); err != nil {
			return err
		}
		one := slurm.Asked{Job: a.Job, Upper: e.Wall.High, Limit: 60 * float64(slurm.Minutes(upper))}
		warning, err := one.Append(b.asked())
		if err != nil {
			return fmt.Errorf("job %s is submitted, but not remembered: %w", a.Job, err)
		}
		if warning != nil {
			b.env.Log.Warn(warning)
		}
	}
	line := strings.Join(append(append([]string{"sbatch --time=" + a.Limit}, b.options...), append([]string{script.Path}, args...)...), " ")
	return b.answer.Print(b.env, a, func(p *cli.Page) {
		p.Line("%s in the middle, %s for %g %% of such jobs", duration(a.Seconds), duration(a.Upper), 100*b.quantile)
		p.Line("%s", line)
		if a.Job != "" {
			p.Line("submitted as job %s", a.Job)
		}
	})
}

// asked is the log of the jobs that were submitted, beside the journal.
func (b *batch) asked() string { return b.journal + ".asked" }

// past is how the jobs went that were submitted before: the factor that they
// would have needed, and how many have ended.
func (b *batch) past(ctx context.Context) (factor float64, jobs int, err error) {
	before, err := slurm.ReadAsked(b.asked())
	if err != nil || len(before) == 0 {
		return 1, 0, err
	}
	numbers := make([]string, len(before))
	for i, a := range before {
		numbers[i] = a.Job
	}
	took, err := slurm.Past(ctx, numbers)
	if err != nil {
		b.env.Log.Warnf("jobs submitted before tell nothing: %v", err)
		return 1, 0, nil
	}
	factor, jobs = slurm.Calibrate(before, took, b.quantile)
	b.env.Log.Infof("%d jobs submitted before have ended: the time asked for is %.3g times the estimate's", jobs, factor)
	return factor, jobs, nil
}

// asked is a time limit and what it rests on.
type asked struct {
	Epochs   int     `json:"epochs"`
	Quantile float64 `json:"quantile"`
	Seconds  float64 `json:"wall_seconds"`
	Upper    float64 `json:"wall_seconds_at_quantile"`
	Limit    string  `json:"time_limit"`
	Past     int     `json:"past_jobs"` // that were looked at, and what they made of the time
	Factor   float64 `json:"factor"`
	Job      string  `json:"job,omitempty"`
}
