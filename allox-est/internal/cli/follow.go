package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/follow"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/mark"
	"github.com/foretime/foretime/allox-est/internal/report"
	"github.com/foretime/foretime/allox-est/internal/sampling"
	"github.com/foretime/foretime/allox-est/internal/slurm"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

// newFollowCommand returns "follow": the estimate of a run in progress.
func newFollowCommand(env *cli.Env) *cobra.Command {
	f := following{env: env}
	cmd := &cobra.Command{
		Use:   "follow JOB.yaml | follow [--epochs N] -- COMMAND ... | follow --epochs N --log FILE",
		Short: "Follow a whole run and estimate its total time after every epoch",
		Long: `Start a whole job, or read the log of a running one, and print the estimated total
time with an interval as epochs end. The job's output goes to stderr. Progress is read
from the numbers in that output; give --epochs if it does not contain the total. The
finished run is added to the journal.`,
		Example: `  allox-est follow -- python3 train.py
  allox-est follow --epochs 90 --log train.log --plot train.svg
  allox-est follow --log train.log --count`,
		Args: f.args,
		RunE: f.run,
	}
	flags := cmd.Flags()
	f.job.register(cmd)
	flags.StringVar(&f.log, "log", "", "log of a running job, a pipe, or - for the standard input")
	flags.StringVar(&f.slurm, "slurm", "", "number of a Slurm job: follows its output, and says whether its time limit suffices")
	flags.StringVar(&f.count, "count", "", "with --log: lists the counters of the log; --count=TEXT uses the one whose description contains TEXT")
	flags.Lookup("count").NoOptDefVal = listCounters
	f.answer.PlotFlag(cmd, "the estimate over time")
	f.answer.JSONFlag(cmd)
	cli.First(cmd, "epochs", "log", "count", "pattern", "json")
	return cmd
}

// following is a whole run that is followed, also by "run --keep".
type following struct {
	env             *cli.Env
	job             jobFlags
	log             string
	answer          cli.Output
	updates         []follow.Update
	bar             *cli.Progress
	first           func() bool // called at the first mark
	tracker         follow.Tracker
	failed          error // of printing
	shown           float64
	drifted, unsure bool
	slurm           string    // a job's number
	deadline        time.Time // of the Slurm job; zero without one
	limited         int       // what was said of it: 1 that it may be killed, 2 that it will
	count           string    // part of the counter to use
	counter         string    // that is used
	counted         float64   // by a counter without a total, when it was printed last
}

func (f *following) args(cmd *cobra.Command, args []string) error {
	if f.log != "" || f.slurm != "" {
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
	if f.job.whole = true; len(f.job.devices) == 0 {
		f.job.devices = []string{jobspec.CPU}
	}
	if len(f.job.devices) > 1 {
		return cli.Usagef("--device %s: want one device: the whole job runs once; run without --keep samples each device", strings.Join(f.job.devices, ","))
	}
	spec, err := f.job.spec(cmd, args)
	if err == nil {
		err = f.env.Input(f.job.journal)
	}
	if err != nil {
		return err
	}
	return f.start(cmd.Context(), spec)
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

// read follows a log that another program writes.
func (f *following) read(ctx context.Context) error {
	reader, err := (&jobspec.Spec{Progress: jobspec.Progress{Pattern: f.job.pattern}}).Reader(f.job.epochs)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if f.count != listCounters {
		reader.Count = f.count
	}
	f.tracker.Job = estimate.Job{Epochs: f.job.epochs}
	log := follow.Log{Path: f.log, Reader: &reader, Every: logInterval, Proc: "/proc", Notice: func(text string) { f.env.Log.Warn(text) }}
	if f.log == "-" {
		log.Path, log.Input = "standard input", f.env.Stdin
	}
	first := true
	return log.Read(ctx, func(s follow.State) error {
		if f.count == listCounters {
			return f.list(&reader, s.Ended)
		}
		f.name(reader.Describe(), reader.Unit())
		if first && s.Old == 0 && len(s.Marks) == 0 && !s.Ended && log.Input == nil {
			f.env.Log.Warnf("%s: no progress found yet: %s; waiting (--epochs gives the total, --pattern selects progress lines)", log.Path, reader.Why())
		}
		first = false
		if s.Ended {
			return f.logEnded(&reader, s)
		}
		return errors.Join(f.rate(&reader), f.look(s.Marks))
	})
}

// limit takes the log and the time limit of a Slurm job.
func (f *following) limit(ctx context.Context) error {
	job, err := slurm.Show(ctx, f.slurm)
	if err != nil {
		return fmt.Errorf("--slurm %s: %w", f.slurm, err)
	}
	if f.log == "" {
		f.log = job.Log
	}
	if f.log == "" {
		return cli.Usagef("--slurm %s: the job has no log; give it by --log", f.slurm)
	}
	if job.State == "RUNNING" && job.Limit > 0 {
		f.deadline = time.Now().Add(job.Limit - job.Elapsed)
	}
	if job.State != "RUNNING" {
		f.env.Log.Warnf("job %s is %s", f.slurm, job.State)
	}
	return nil
}

// deadlineOf returns when the Slurm job ends that this program runs in, by its
// environment; zero where it runs in none.
func deadlineOf(getenv func(string) string) time.Time {
	seconds, err := strconv.ParseInt(getenv("SLURM_JOB_END_TIME"), 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// cut says whether the job will be killed at its time limit.
func (f *following) cut(u follow.Update) {
	room := time.Until(f.deadline).Seconds()
	if f.deadline.IsZero() || u.Left == nil || u.Left.High <= room || f.limited == 2 {
		return
	}
	share := func(left float64) float64 {
		return 100 * (u.Done + (float64(u.Epochs)-u.Done)*max(0, min(1, room/left))) / float64(u.Epochs)
	}
	switch {
	case u.Left.Value > room:
		f.limited = 2
		f.env.Log.Warnf("the job will be killed at its time limit, in %s, at about %.0f %%", duration(max(0, room)), share(u.Left.Value))
	case f.limited == 0 && u.Refused == "":
		f.limited = 1
		f.env.Log.Warnf("the job may be killed at its time limit, in %s, at %.0f %% or later", duration(max(0, room)), share(u.Left.High))
	}
}

// logInterval is the time between two looks at a log's end.
const logInterval = 100 * time.Millisecond

// listCounters is the value of --count that lists the counters of a log.
const listCounters = "list"

// name prints what is counted, when it is first known and when it changes.
func (f *following) name(counter, unit string) {
	if counter == "" || counter == f.counter {
		return
	}
	f.counter = counter
	if f.log == "" {
		f.env.Log.Infof("counting %s; --pattern selects other lines", counter)
		return
	}
	f.tracker.Job.Unit = unit
	f.env.Log.Infof("counting %s; --count lists others", counter)
}

// list prints the counters of a log, once there are any.
func (f *following) list(reader *mark.Reader, ended bool) error {
	counters := reader.Counters()
	if len(counters) == 0 {
		if ended {
			return fmt.Errorf("%s: %s", f.log, reader.Why())
		}
		return nil
	}
	for _, c := range counters {
		if _, err := fmt.Fprintln(f.env.Stdout, c); err != nil {
			return err
		}
	}
	return io.EOF
}

// rate prints how fast a counter without a total counts, each time that it has doubled.
func (f *following) rate(reader *mark.Reader) error {
	if f.counter != "" {
		return nil
	}
	number, unit, perSecond, known := reader.Rate()
	if !known || number < 2*f.counted {
		return nil
	}
	f.counted = number
	if f.answer.JSON() {
		return f.env.WriteJSONLine(struct {
			Counted   float64 `json:"counted"`
			Unit      string  `json:"unit"`
			PerSecond float64 `json:"per_second"`
		}{number, unit, perSecond})
	}
	_, err := fmt.Fprintf(f.env.Stdout, "%.10g %ss so far, %.2g per second; no total found, use --epochs N\n", number, unit, perSecond)
	return err
}

// logEnded prints how a log has ended.
func (f *following) logEnded(reader *mark.Reader, s follow.State) error {
	n := len(s.Marks)
	if n == 0 {
		if reader.Full() {
			f.env.Log.Infof("%s: all %v %ss have ended", f.log, reader.Length(), cmp.Or(f.tracker.Job.Unit, jobspec.Epoch))
			return io.EOF
		}
		if number, unit, _, known := reader.Rate(); known {
			f.env.Log.Warnf("%s: %s after %.10g %ss", f.log, s.Why, number, unit)
			return io.EOF
		}
		return fmt.Errorf("%s: %s, and %s", f.log, s.Why, cmp.Or(reader.Why(), "no progress was found"))
	}
	last := s.Marks[n-1]
	f.tracker.Ended = true
	if units := reader.Length(); reader.Full() {
		end := last
		end.Number, end.Of = units, units
		if last.Number < units {
			s.Marks = append(s.Marks, end)
		}
		return cmp.Or(f.look(s.Marks), io.EOF)
	}
	f.env.Log.Warnf("%s: %s at %s %.4g of %.10g", f.log, s.Why, cmp.Or(f.tracker.Job.Unit, jobspec.Epoch), last.Number, last.Of)
	return cmp.Or(f.look(s.Marks), io.EOF)
}

// start starts the job and follows it.
func (f *following) start(ctx context.Context, spec *jobspec.Spec) error {
	device := f.job.devices[0]
	f.deadline = deadlineOf(os.Getenv)
	if spec.Devices[device].Elsewhere() {
		return cli.Usagef("--device %s: it is on another machine; follow starts jobs on this one (--log FILE follows a running job)", device)
	}
	j, err := journal.Open(f.job.journal)
	if err != nil {
		return err
	}
	defer j.Close()
	if f.tracker.Job, err = report.JobOf(spec, device); err != nil {
		return err
	}
	s, done := newSampler(f.env, spec, j)
	defer done()
	s.Output = f.env.Stderr
	if s.Identity, err = sampling.Identify(spec, s.Machine, s.Env); err != nil {
		return err
	}
	f.tracker.Past = past(j, journal.Key{Job: spec.Hash(device), Device: device}, f.tracker.Job)
	if n := len(f.tracker.Past.Runs); n > 0 {
		f.env.Log.Infof("%d earlier whole runs of this job are used", n)
	}
	checkpoint, err := f.checkpoint(spec)
	if err != nil {
		return err
	}
	s.Counted = func(r *mark.Reader) {
		f.name(r.Describe(), "")
		f.failed = cmp.Or(f.failed, f.rate(r))
	}
	s.Watch = func(marks []mark.Mark) {
		if f.failed == nil {
			f.failed = f.look(marks)
		}
	}
	silent := time.AfterFunc(time.Minute, func() {
		f.env.Log.Warn("no progress in the output for a minute; --pattern selects progress lines")
	})
	defer silent.Stop()
	f.first = silent.Stop
	run, err := s.Keep(ctx, device, checkpoint)
	if err != nil {
		return err
	}
	if run.Failed() {
		return fmt.Errorf("%s: %s", spec.Command[0], run.Error)
	}
	if f.tracker.Ended = true; f.failed == nil && run.Asked == 0 {
		f.failed = f.look(toTheEnd(run)) // now we know whether lines begin or end epochs
	}
	return errors.Join(f.failed, f.ended(run), f.draw())
}

// past returns the whole runs of a job in its journal.
func past(j *journal.Journal, key journal.Key, job estimate.Job) estimate.Past {
	p := estimate.Past{Job: job}
	for _, r := range j.Of(key, journal.Full) {
		if marks := r.Timeline(); !r.Failed() && r.Asked == 0 && len(marks) > 0 {
			p.Runs = append(p.Runs, estimate.PastRun{Marks: marks, Units: float64(r.Epochs), Wall: r.Wall})
		}
	}
	return p
}

// toTheEnd returns the marks of a whole run; the last unit ends with the process.
func toTheEnd(run *journal.Run) []mark.Mark {
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

// ended prints how a run ended.
func (f *following) ended(run *journal.Run) error {
	for _, w := range run.Warnings {
		if run.Asked == 0 {
			f.env.Log.Warn(w)
		}
	}
	if f.answer.JSON() {
		return nil
	}
	how := "took"
	if run.Asked > 0 {
		how = fmt.Sprintf("the job stopped by itself at %d of %d, after", run.Epochs, run.Asked)
	}
	_, err := fmt.Fprintf(f.env.Stdout, "%s %s\n", how, duration(run.Wall))
	return err
}

// checkpoint makes a directory next to the journal for a job that keeps checkpoints.
func (f *following) checkpoint(spec *jobspec.Spec) (string, error) {
	if !spec.KeepsCheckpoints() {
		return "", nil
	}
	parent, err := filepath.Abs(f.job.journal + ".checkpoints")
	if err == nil {
		err = os.MkdirAll(parent, 0o755)
	}
	if err != nil {
		return "", err
	}
	path, err := os.MkdirTemp(parent, fmt.Sprintf("%s-%s-run-", spec.Name, f.job.devices[0]))
	f.env.Log.Infof("checkpoints: %s", path)
	return path, err
}

// look prints the estimate for the marks so far: for every mark as JSON, else for the
// last one, at every twentieth of the run. A mark that was printed may get another
// time later; it is printed again only if the progress number turned out to be
// another one and the marks went back.
func (f *following) look(marks []mark.Mark) error {
	printed := 0.0
	if n := len(f.updates); n > 0 && len(marks) > 0 && marks[len(marks)-1].Number >= f.updates[n-1].Done {
		printed = f.updates[n-1].Done
	}
	for i := range marks {
		last := i == len(marks)-1
		if !(last && f.tracker.Ended) && (marks[i].Number <= printed || !last && !f.answer.JSON()) {
			continue
		}
		if err := f.tell(marks[:i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (f *following) tell(marks []mark.Mark) error {
	u, more, err := f.tracker.Look(marks)
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
	if u.Done >= float64(u.Epochs) && !f.tracker.Ended {
		f.bar.Describe("the last " + cmp.Or(f.tracker.Job.Unit, jobspec.Epoch) + " has come; waiting for the end")
		return nil
	}
	f.updates = append(f.updates, u)
	f.cut(u)
	if f.answer.JSON() {
		return f.env.WriteJSONLine(u)
	}
	if u.Total == nil {
		return nil
	}
	f.bar.Describe(fmt.Sprintf("%s left of %s", duration(u.Left.Value), duration(u.Total.Value)))
	unit := cmp.Or(f.tracker.Job.Unit, jobspec.Epoch)
	if u.NotEnough && u.Refused == "" && !f.unsure {
		f.env.Log.Warnf("not enough to tell: the %ss differ so much that the value means little; use the interval", unit)
		f.unsure = true
	}
	if u.Drifted && !f.drifted {
		f.env.Log.Warnf("%s %.3g: the estimate has left the first interval", unit, u.Done)
		f.drifted = true
	}
	percent := 100 * u.Done / float64(u.Epochs)
	if percent < f.shown && u.Done < float64(u.Epochs) {
		return nil
	}
	f.shown = float64(int(percent/5)*5 + 5)
	said := fmt.Sprintf("in all, %s to %s; %s left", duration(u.Total.Low), duration(u.Total.High), duration(u.Left.Value))
	if u.Refused != "" {
		said = "in all if nothing changes; no interval: " + u.Refused
	}
	_, err = fmt.Fprintf(f.env.Stdout, "%s %s of %d: %s %s\n", unit, strconv.FormatFloat(math.Floor(100*u.Done+0.5)/100, 'f', -1, 64), u.Epochs, duration(u.Total.Value), said)
	return err
}

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
