package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/follow"
	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/launch"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/allox-est/internal/report"
	"github.com/foretime/foretime/allox-est/internal/sampling"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// newFollowCommand returns "follow": the estimate of a run in progress.
func newFollowCommand(env *cli.Env) *cobra.Command {
	f := following{env: env, said: map[string]bool{}}
	cmd := &cobra.Command{
		Use:   "follow JOB.yaml | follow [--epochs N] -- COMMAND ... | follow --epochs N --log FILE",
		Short: "Follow a whole run and estimate its total time after every epoch",
		Long: `Start a whole job, or read the log of a running one, and print the estimated total
time with an interval as epochs end. The job's output goes to stderr. Progress is read
from the numbers in that output; give --epochs if it does not contain the total. The
finished run is added to the journal.`,
		Example: `  allox-est follow -- python3 train.py
  allox-est follow --epochs 90 --log train.log --plot train.svg
  allox-est follow --log train.log --count
  allox-est follow --slurm all`,
		Args: f.args,
		RunE: f.run,
	}
	flags := cmd.Flags()
	f.job.register(cmd)
	flags.StringVar(&f.log, "log", "", "log of a running job, a pipe, or - for the standard input; with further logs as arguments: one table")
	flags.StringVar(&f.slurm, "slurm", "", "number of a Slurm job: follows its output, and says whether its time limit suffices; all of yours with all, or several: one table")
	flags.StringVar(&f.count, "count", "", "with --log: lists the counters of the log; --count=TEXT uses the one whose description contains TEXT")
	flags.Lookup("count").NoOptDefVal = listCounters
	cmd.MarkFlagsMutuallyExclusive("log", "slurm")
	f.answer.PlotFlag(cmd, "the estimate over time")
	f.answer.JSONFlag(cmd, nil)
	cli.First(cmd, "epochs", "log", "count", "pattern", "json")
	return cmd
}

// following is a whole run that is followed, also by "run --keep".
type following struct {
	env      *cli.Env
	job      jobFlags
	log      string
	answer   cli.Output
	updates  []follow.Update
	bar      *cli.Progress
	first    func() bool // called at the first mark
	tracker  follow.Tracker
	failed   error // of printing
	shown    float64
	slurm    string          // a job's number
	deadline time.Time       // of the Slurm job; zero without one
	count    string          // part of the counter to use
	counter  string          // that is used
	counted  float64         // by a counter without a total, when it was printed last
	paced    string          // that counter
	said     map[string]bool // warnings that come once
}

// warnOnce logs a warning of a kind that has not come yet.
func (f *following) warnOnce(kind, format string, args ...any) {
	if !f.said[kind] {
		f.said[kind] = true
		f.env.Log.Warnf(format, args...)
	}
}

// unit returns the name of what is counted.
func (f *following) unit() string { return cmp.Or(f.tracker.Job.Unit, jobspec.Epoch) }

func (f *following) args(cmd *cobra.Command, args []string) error {
	if f.log != "" && cmd.ArgsLenAtDash() < 0 {
		return nil
	}
	if f.slurm != "" {
		return cobra.NoArgs(cmd, args)
	}
	return jobArgs(cmd, args)
}

func (f *following) run(cmd *cobra.Command, args []string) error {
	defer func() {
		if f.bar != nil {
			f.bar.Done()
		}
	}()
	if cmd.Flags().Changed("epochs") && f.job.epochs < 1 {
		return cli.Usagef("--epochs %d: want at least 1", f.job.epochs)
	}
	if f.log != "" && len(args) > 0 || f.slurm == allJobs || strings.Contains(f.slurm, ",") {
		if err := exclude(cmd, "log or --slurm of several jobs", "count", "plot", "device", "journal", "set", "stages"); err != nil {
			return err
		}
		return f.followAll(cmd.Context(), args)
	}
	if f.slurm != "" {
		if err := f.limit(cmd.Context()); err != nil {
			return err
		}
	}
	if f.log != "" {
		if err := exclude(cmd, "log", "device", "journal", "set", "stages"); err != nil {
			return err
		}
		return errors.Join(f.read(cmd.Context()), f.draw())
	}
	if f.count != "" {
		return cli.Usagef("--count: not possible without --log or --slurm; --pattern selects the lines of a command")
	}
	f.job.whole = true
	if len(f.job.devices) == 0 {
		f.job.devices = []string{jobspec.CPU}
	}
	if len(f.job.devices) > 1 {
		return cli.Usagef("--device %s: want one device: the whole job runs once; run without --keep samples each device", strings.Join(f.job.devices, ","))
	}
	spec, err := f.job.spec(f.env, cmd, args)
	if err != nil {
		return err
	}
	run, err := f.start(cmd.Context(), spec)
	if f.bar != nil {
		f.bar.Done()
	}
	if errors.Is(err, launch.ErrStart) {
		fmt.Fprintf(f.env.Stderr, "%s: %v\n", cmd.Root().Name(), err)
		os.Exit(cli.StartStatus(err))
	}
	if err != nil {
		return err
	}
	if run.Signal != 0 {
		launch.EndBy(syscall.Signal(run.Signal))
	}
	if run.Exit != 0 {
		os.Exit(run.Exit)
	}
	return nil
}

// draw writes the chart of the estimates, if --plot is given.
func (f *following) draw() error {
	err := f.answer.Draw(func() (chart.Chart, error) { return follow.Picture(cmp.Or(f.log, "run"), f.updates) })
	if errors.Is(err, follow.ErrNothingKnown) {
		f.env.Log.Warn(err)
		return nil
	}
	return err
}

// start starts the job and follows it to its end. Whatever fails on our side is a warning:
// the program ends with the job's exit code.
func (f *following) start(ctx context.Context, spec *jobspec.Spec) (*journal.Run, error) {
	device := f.job.devices[0]
	f.deadline = deadlineOf(os.Getenv)
	j, err := journal.ReadAll(f.job.journal)
	if errors.Is(err, file.ErrForeign) {
		return nil, err
	} else if err != nil {
		f.env.Log.Warnf("earlier runs are not used: %v", err)
		j = &journal.Journal{}
	}
	f.tracker.Job = report.DeviceJob(spec, device)
	s, done := newSampler(f.env, spec, j)
	defer done()
	s.Output = f.env.Stderr
	s.Input, _ = f.env.Stdin.(*os.File)
	if s.Identity, err = sampling.Identify(spec, s.Machine, s.Env); err != nil {
		return nil, err
	}
	f.tracker.Past = f.earlierRuns(spec, j, s.Identity)
	f.failed = f.expect()
	s.Counted = func(r *progress.Reader) {
		f.name(r.Describe(), cmp.Or(spec.Unit, r.Unit()))
		f.failed = cmp.Or(f.failed, f.rate(r))
	}
	s.Watch = func(marks []progress.Mark) {
		if f.failed == nil {
			f.failed = f.printMarks(marks)
		}
	}
	silent := time.AfterFunc(time.Minute, func() {
		f.env.Log.Warn("no progress in the output for a minute; --pattern selects progress lines")
	})
	defer silent.Stop()
	f.first = silent.Stop
	s.Runner = launch.NewJob(launch.Settings{Relay: helper("relay")}, cli.Signals(f.env, launch.ForwardedSignals()...))
	run, err := s.Keep(context.WithoutCancel(ctx), device)
	if err != nil {
		return nil, err
	}
	f.keep(run)
	f.tracker.Ended = true
	if f.failed == nil && !run.HasFailed() && run.Asked == 0 {
		f.failed = f.printMarks(toTheEnd(run)) // now we know whether lines begin or end epochs
	}
	if err := errors.Join(f.failed, f.printEnd(run), f.draw()); err != nil {
		f.env.Log.Warn(err)
	}
	return run, nil
}

// keep adds a run to the journal.
func (f *following) keep(run *journal.Run) {
	path, err := journal.Add(f.job.journal, *run)
	if err != nil {
		f.env.Log.Warnf("the run is not in the journal: %v", err)
	} else if path != f.job.journal {
		f.env.Log.Warnf("%s is in use by another process: the run is in %s", f.job.journal, path)
	}
}

// expectNext prints what the durations of earlier runs say of the next run of a command.
func (f *following) expectNext(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("csv") || cmd.Flags().Changed("plot") {
		return cli.Usagef("--csv, --plot: there is no table or chart without --epochs")
	}
	f.job.whole = true
	spec, err := f.job.spec(f.env, cmd, args)
	if err != nil {
		return err
	}
	j, err := f.job.newest(f.env, spec)
	if err != nil {
		return err
	}
	identity, err := sampling.Identify(spec, thisMachine(), os.Environ())
	if err != nil {
		return err
	}
	f.tracker.Past = f.earlierRuns(spec, j, identity)
	if len(f.tracker.Past.Runs) == 0 {
		return fmt.Errorf("%s: no earlier run of this command; --epochs estimates it from samples", f.job.journal)
	}
	return f.expect()
}

// earlierRuns returns the finished runs of a job's command.
func (f *following) earlierRuns(spec *jobspec.Spec, j *journal.Journal, now journal.Identity) history.Past {
	device := f.job.devices[0]
	return history.Of(j.Runs, journal.Run{Job: spec.Hash(device), Device: device, Command: spec.Command, Identity: now})
}

// expect prints what the durations of earlier runs say, before there is any output.
func (f *following) expect() error {
	n := len(f.tracker.Past.Runs)
	if n == 0 {
		return nil
	}
	f.env.Log.Infof("%s of this command used", plural.Count(n, "earlier run"))
	u, ok := f.tracker.Expect(0)
	if !ok {
		return nil
	}
	if f.answer.JSON() {
		return f.env.WriteJSONLine(u)
	}
	_, err := fmt.Fprintf(f.env.Stdout, "by earlier runs: %s in all, %s to %s\n", duration(u.Total.Value), duration(u.Total.Low), duration(u.Total.High))
	return err
}

// toTheEnd returns the marks of a whole run; the last unit ends with the process.
func toTheEnd(run *journal.Run) []progress.Mark {
	n := len(run.Marks)
	if n == 0 {
		return nil
	}
	marks, end := slices.Clone(run.Marks), run.Marks[n-1]
	if end.Number >= float64(run.Epochs) {
		marks = marks[:n-1]
	}
	end.Number, end.Seconds = float64(run.Epochs), run.Wall
	return append(marks, end)
}

// printEnd prints how a run ended.
func (f *following) printEnd(run *journal.Run) error {
	for _, w := range run.Warnings {
		if run.Asked == 0 {
			f.env.Log.Warn(w)
		}
	}
	if f.answer.JSON() {
		return f.env.WriteJSONLine(runEnd{run.Wall, run.Exit, run.PeakBytes, run.GPUPeakBytes, run.Error})
	}
	how := "took"
	if run.Asked > 0 {
		how = fmt.Sprintf("the job stopped by itself at %d of %d, after", run.Epochs, run.Asked)
	} else if run.HasFailed() {
		how = run.Error + ", after"
	}
	memory := "memory at most " + humanize.IBytes(uint64(run.PeakBytes))
	if run.GPUPeakBytes > 0 {
		memory += ", on GPUs " + humanize.IBytes(uint64(run.GPUPeakBytes))
	}
	_, err := fmt.Fprintf(f.env.Stdout, "%s %s; %s\n", how, duration(run.Wall), memory)
	return err
}

// runEnd is the last line of --json.
type runEnd struct {
	Seconds   float64 `json:"took_seconds"`
	Exit      int     `json:"exit"`
	PeakBytes int64   `json:"peak_bytes"`
	GPUPeak   int64   `json:"gpu_peak_bytes,omitempty"`
	Error     string  `json:"error,omitempty"`
}

// printMarks prints the estimate for the marks so far: for every mark as JSON, else for the
// last one, at every twentieth of the run. A mark that was printed may get another
// time later; it is printed again only if the progress number turned out to be
// another one and the marks went back.
func (f *following) printMarks(marks []progress.Mark) error {
	printed := 0.0
	if n := len(f.updates); n > 0 && len(marks) > 0 && marks[len(marks)-1].Number >= f.updates[n-1].Done {
		printed = f.updates[n-1].Done
	}
	for i := range marks {
		last := i == len(marks)-1
		if !(last && f.tracker.Ended) && (marks[i].Number <= printed || !last && !f.answer.JSON()) {
			continue
		}
		if err := f.printLast(marks[:i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (f *following) printLast(marks []progress.Mark) error {
	u, more, err := f.tracker.Estimate(marks)
	if err != nil || !more {
		return err
	}
	if f.first != nil {
		f.first()
	}
	if f.bar == nil {
		f.bar = f.env.Progress("", int64(u.Epochs))
	}
	f.bar.Set(int64(u.Done))
	f.warnRestart(marks[0].Number, u)
	f.warnOpen(u)
	if u.Done >= float64(u.Epochs) && !f.tracker.Ended {
		f.bar.Describe("the last " + f.unit() + " has come; waiting for the end")
		return nil
	}
	f.updates = append(f.updates, u)
	f.warnLimit(u)
	if f.answer.JSON() {
		return f.env.WriteJSONLine(u)
	}
	if u.Total == nil {
		return nil
	}
	f.bar.Describe(fmt.Sprintf("%s left of %s", duration(u.Left.Value), duration(u.Total.Value)))
	unit := f.unit()
	if u.NotEnough && u.Refused == "" && u.Least == 0 {
		why := "they differ so much that the value means little"
		if len(marks) < fewMarks {
			why = "too few have come"
		}
		f.warnOnce("unsure", "not enough to tell from the %s so far: %s; use the interval", progress.Plural(unit), why)
	}
	if u.Drifted {
		f.warnOnce("drifted", "%s %.3g: the estimate has left the first interval", unit, u.Done)
	}
	percent := 100 * u.Done / float64(u.Epochs)
	if percent < f.shown && u.Done < float64(u.Epochs) {
		return nil
	}
	f.shown = float64(int(percent/5)*5 + 5)
	said := fmt.Sprintf("in all, %s to %s; %s left", duration(u.Total.Low), duration(u.Total.High), duration(u.Left.Value))
	switch {
	case f.tracker.Ended && u.Done >= float64(u.Epochs): // a fact
		said = "in all"
	case u.Refused != "":
		said = "in all if nothing changes; no interval: " + u.Refused
	}
	_, err = fmt.Fprintf(f.env.Stdout, "%s %s of %d: %s %s\n", unit, strconv.FormatFloat(math.Floor(100*u.Done+0.5)/100, 'f', -1, 64), u.Epochs, duration(u.Total.Value), said)
	return err
}

// fewMarks is the number of marks below which an open end says nothing of their differences.
const fewMarks = 10

// duration formats seconds, rounded to what a reader needs.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	minutes := int(d.Round(time.Minute) / time.Minute)
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd%02dh", (minutes+30)/1440, (minutes+30)/60%24)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
	case d >= time.Minute:
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
