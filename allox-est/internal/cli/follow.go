package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/follow"
	"github.com/foretime/foretime/allox-est/jobspec"
	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/allox-est/runner"
	"github.com/foretime/foretime/allox-est/sampling"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

// newFollowCommand returns "follow": the estimate of a run under way.
func newFollowCommand(env *cli.Env) *cobra.Command {
	f := following{env: env}
	cmd := &cobra.Command{
		Use:   "follow JOB.yaml | follow --epochs N -- COMMAND ... | follow --epochs N --log FILE",
		Short: "Follow a whole run: the time it takes in all, better known with every epoch",
		Long: `Follow a whole run: start a job, or read the log that one writes, and say, as its
epochs end, how long it takes in all, with an interval. What the job prints goes to
stderr. It warns once when the run leaves the interval that was first given.`,
		Example: `  allox-est follow --epochs 90 -- python3 train.py
  allox-est follow --epochs 90 --log train.log --plot train.svg`,
		Args: f.args,
		RunE: f.run,
	}
	flags := cmd.Flags()
	flags.IntVar(&f.epochs, "epochs", 0, "epochs of the run, in place of the file's")
	flags.StringVar(&f.log, "log", "", "log of a run that is under way")
	flags.StringVar(&f.pattern, "pattern", "", "regular expression of the lines that mark epochs (default: the file's, or those that name an epoch and bars of tqdm)")
	flags.StringVar(&f.device, "device", jobspec.CPU, "device that {hw} names")
	f.answer.PlotFlag(cmd, "the estimate over the run")
	flags.BoolVar(&f.resume, "resume-from-sample", false, "go on from the checkpoint of the longest sample in the journal, so that sampling cost nothing; the command names its folder as {checkpoint}")
	flags.StringVar(&f.journal, "journal", "", "journal of the samples (default: NAME.jsonl)")
	f.answer.Flags(cmd)
	cli.First(cmd, "epochs", "log", "plot", "pattern", "json")
	return cmd
}

type following struct {
	env             *cli.Env
	epochs          int
	log, pattern    string
	device          string
	resume          bool
	journal         string
	answer          cli.Output
	updates         []follow.Update
	bar             *cli.Progress
	tracker         *follow.Tracker
	shown           int // percent at which a line was printed last
	drifted, unsure bool
}

func (f *following) args(cmd *cobra.Command, args []string) error {
	if f.log != "" {
		return cobra.NoArgs(cmd, args)
	}
	return jobArgs(cmd, args)
}

func (f *following) run(cmd *cobra.Command, args []string) error {
	var spec *jobspec.Spec
	if f.log == "" {
		job := jobFlags{epochs: f.epochs, pattern: f.pattern, devices: []string{f.device}, method: "auto", journal: f.journal}
		var err error
		if spec, err = job.spec(cmd, args); err != nil {
			return err
		}
		if spec.Devices[f.device].Elsewhere() {
			return cli.Usagef("--device %s: it is on another machine, and follow starts jobs here; --log FILE follows one of there", f.device)
		}
		f.epochs, f.journal = spec.Epochs/spec.Lap(), job.journal
		if f.pattern == "" {
			f.pattern = spec.Progress.Pattern
		}
	}
	if f.resume && (spec == nil || !spec.KeepsCheckpoints()) {
		return cli.Usagef("--resume-from-sample: the command has no {checkpoint}, the folder that the job saves to and goes on from")
	}
	if f.epochs < 1 {
		return cli.Usagef("--epochs %d: want at least 1", f.epochs)
	}
	if f.pattern == "" {
		f.pattern = jobspec.EpochLine(f.epochs)
	}
	pattern, err := regexp.Compile(f.pattern)
	if err != nil {
		return cli.Usagef("--pattern: %v", err)
	}
	f.bar = f.env.Progress("", int64(f.epochs))
	defer f.bar.Done()
	if spec == nil {
		err = f.read(cmd.Context(), pattern)
	} else {
		err = f.start(cmd.Context(), spec, pattern)
	}
	return errors.Join(err, f.draw())
}

// draw draws what was known on the way, where that is wanted.
func (f *following) draw() error {
	err := f.answer.Draw(func() (chart.Chart, error) { return follow.Picture(cmp.Or(f.log, "run"), f.updates) })
	if errors.Is(err, follow.ErrNothingKnown) {
		f.env.Log.Warn(err)
		return nil
	}
	return err
}

// read follows a log that another program writes.
func (f *following) read(ctx context.Context, pattern *regexp.Regexp) error {
	old := func(n int) error {
		f.tracker = follow.New(f.epochs, min(n, f.epochs))
		if n == 0 {
			f.env.Log.Warnf("%s: no line so far marks an epoch by %s: waiting for one", f.log, pattern)
		}
		if n < f.epochs {
			return nil
		}
		f.env.Log.Infof("%s: all %d epochs had ended", f.log, f.epochs)
		return io.EOF
	}
	return (follow.Log{Path: f.log, Pattern: pattern, Epochs: f.epochs, Every: 200 * time.Millisecond}).Read(ctx, old, func(at time.Duration) error {
		u, err := f.tracker.Mark(at)
		if errors.Is(err, follow.ErrOrder) {
			return io.EOF
		}
		if err != nil {
			return err
		}
		if err := f.show(u); err != nil || u.Done < u.Epochs {
			return err
		}
		return io.EOF
	})
}

// start follows a job of its own.
func (f *following) start(ctx context.Context, spec *jobspec.Spec, pattern *regexp.Regexp) error {
	from, err := f.origin(spec)
	if err != nil {
		return err
	}
	args, err := spec.Args(f.device, spec.Epochs, jobspec.Folders{Scratch: runner.ScratchWord, Checkpoint: from.folder})
	if err != nil {
		return err
	}
	var failed error
	var reports follow.Reports
	lines := false // they mark the epochs, not the reports
	more := false  // epochs than are left
	mark := func(at time.Duration) {
		u, err := f.tracker.Mark(at)
		if err == nil {
			err = f.show(u)
		}
		if err != nil && failed == nil && !errors.Is(err, follow.ErrOrder) {
			failed = err
		}
	}
	res, err := runner.New(runner.Settings{Guard: guardCommand()}).Run(ctx, runner.Command{
		Args: args, Dir: spec.WorkDir(), Env: append(spec.Environ(os.Environ()), "PYTHONUNBUFFERED=1"), Marks: pattern, Output: f.env.Stderr,
		Marked: func(at time.Duration, group string) {
			lines = true
			from.check(f, group)
			mark(at)
		},
		Reported: func(at time.Duration, laps []float64) {
			left := f.epochs - from.done/spec.Lap()
			if len(laps) > left+2 && !lines && !more {
				more = true
				f.env.Log.Warnf("more epochs are reported than the %d left: the job did not go on from the checkpoint", left)
			}
			for _, end := range reports.Ended(at, laps, left) {
				if !lines {
					mark(end)
				}
			}
		},
	})
	if err != nil {
		return err
	}
	if err := errors.Join(res.Err, failed); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if len(f.updates) == 0 {
		f.env.Log.Warnf("no line of the job's output marks an epoch, and no time-writer report: %s", pattern)
	}
	if f.answer.JSON() {
		return nil
	}
	_, err = fmt.Fprintf(f.env.Stdout, "took %s\n", duration(res.Wall.Seconds()))
	return err
}

// origin is where a run begins: at its first epoch, or after those of a sample.
type origin struct {
	folder  string // of the checkpoints
	done    int    // its number in the job's lines
	checked bool
}

// origin prepares the tracker, and the folder of the checkpoints where the job
// keeps them: the sample's, under another name, or a new one.
func (f *following) origin(spec *jobspec.Spec) (*origin, error) {
	f.tracker = follow.New(f.epochs, 0)
	switch {
	case f.resume:
		return f.goOn(spec)
	case !spec.KeepsCheckpoints():
		return &origin{}, nil
	}
	parent, err := checkpoints(f.journal)
	if err == nil {
		err = os.MkdirAll(parent, 0o755)
	}
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(parent, fmt.Sprintf("%s-%s-run-", spec.Name, f.device))
	f.env.Log.Infof("checkpoints: %s", folder)
	return &origin{folder: folder}, err
}

// goOn begins where the longest sample ended.
func (f *following) goOn(spec *jobspec.Spec) (*origin, error) {
	sample, err := f.sample(spec)
	if err != nil {
		return nil, err
	}
	folder := sample.Checkpoint + "-run"
	if err := os.Rename(sample.Checkpoint, folder); err != nil {
		return nil, err
	}
	f.env.Log.Infof("goes on after epoch %d of %d, from %s", sample.Epochs, spec.Epochs, folder)
	var laps []float64
	if n := len(sample.Laps); n > 2 {
		laps = sample.Laps[1 : n-1]
	}
	f.tracker = follow.Resume(f.epochs, sample.Epochs/spec.Lap(), laps)
	return &origin{folder: folder, done: sample.Epochs}, nil
}

// sample is the one to go on from: made as the run will be.
func (f *following) sample(spec *jobspec.Spec) (*journal.Run, error) {
	j, err := journal.Read(f.journal)
	if err != nil {
		return nil, err
	}
	now, err := sampling.Identify(spec, thisMachine(), os.Environ())
	if err != nil {
		return nil, err
	}
	setAside(f.env, j, spec.Hash(f.device), otherwise(now))
	run := sampling.Resumable(j.Of(journal.Key{Job: spec.Hash(f.device), Device: f.device}, journal.Sample))
	switch {
	case run == nil:
		return nil, fmt.Errorf("%s: no sample with a checkpoint that is still there", f.journal)
	case run.Epochs >= spec.Epochs:
		return nil, fmt.Errorf("%s: the sample of %d epochs is the whole run", f.journal, run.Epochs)
	}
	return run, nil
}

// check sees at the first epoch whether the job did go on.
func (o *origin) check(f *following, group string) {
	first := !o.checked
	o.checked = true
	if n, err := strconv.Atoi(group); !first || err != nil || n >= o.done {
		return
	}
	f.env.Log.Warnf("the job began again at epoch %s: it did not go on from the checkpoint", group)
	f.tracker = follow.New(f.epochs, 0)
}

// show tells of an update: every one as JSON, else one in twenty.
func (f *following) show(u follow.Update) error {
	f.bar.Set(int64(u.Done))
	f.updates = append(f.updates, u)
	if f.answer.JSON() {
		return json.NewEncoder(f.env.Stdout).Encode(u)
	}
	if u.Total == nil {
		return nil
	}
	f.bar.Describe(fmt.Sprintf("%s left of %s", duration(u.Left.Value), duration(u.Total.Value)))
	if u.NotEnough && !f.unsure {
		f.env.Log.Warn("not enough to tell: the epochs differ so much that only the interval counts")
		f.unsure = true
	}
	if u.Drifted && !f.drifted {
		f.env.Log.Warnf("epoch %d: the run has left the interval that was first given", u.Done)
		f.drifted = true
	}
	percent := 100 * u.Done / u.Epochs
	if percent < f.shown && u.Done < u.Epochs {
		return nil
	}
	f.shown = percent/5*5 + 5
	_, err := fmt.Fprintf(f.env.Stdout, "epoch %d of %d: %s in all, %s to %s; %s left\n", u.Done, u.Epochs,
		duration(u.Total.Value), duration(u.Total.Low), duration(u.Total.High), duration(u.Left.Value))
	return err
}

// duration prints seconds as people say them.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d >= time.Hour:
		return d.Round(time.Minute).String()
	case d >= time.Minute:
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
