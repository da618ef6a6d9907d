package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/follow"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/allox-est/internal/slurm"
	"github.com/foretime/foretime/shared/cli"
)

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
			f.env.Log.Warnf("%s: no progress found yet: %s; waiting (--epochs gives the total, --pattern selects progress lines)", log.Path, why(&reader))
		}
		first = false
		if s.Ended {
			return f.logEnded(&reader, s)
		}
		return errors.Join(f.rate(&reader), f.printMarks(s.Marks))
	})
}

// limit takes the log and the time limit of a Slurm job.
func (f *following) limit(ctx context.Context) error {
	job, err := slurm.Show(ctx, f.slurm)
	if err != nil {
		return fmt.Errorf("--slurm %s: %w", f.slurm, err)
	}
	f.log = cmp.Or(f.log, job.Log)
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

// warnLimit says, once, that the job may be killed at its time limit, and once that it will be.
func (f *following) warnLimit(u follow.Update) {
	room := max(0, time.Until(f.deadline).Seconds())
	if f.deadline.IsZero() || u.Left == nil || u.Left.High <= room {
		return
	}
	kind, left := "limit", u.Left.High
	when := "may be killed at its time limit, in %s, at %.0f %% or later"
	if u.Left.Value > room {
		kind, left = "killed", u.Left.Value
		when = "will be killed at its time limit, in %s, at about %.0f %%"
	}
	if kind == "killed" || u.Refused == "" && !f.said["killed"] {
		done := u.Done + (float64(u.Epochs)-u.Done)*min(1, room/left)
		f.warnOnce(kind, "the job "+when, duration(room), 100*done/float64(u.Epochs))
	}
}

// logInterval is the time between two looks at a log's end.
const logInterval = 100 * time.Millisecond

// listCounters is the value of --count that lists the counters of a log.
const listCounters = "list"

// name prints what is counted, when it is first known and when it changes.
func (f *following) name(counter, unit string) {
	if counter == "" && f.counter != "" {
		f.env.Log.Warnf("%s counts only a part of the run, and the estimates so far are of that part", f.counter)
		f.counter = ""
	}
	if counter == f.counter {
		return
	}
	f.counter, f.tracker.Job.Unit = counter, unit
	others := "--count lists others"
	if f.log == "" {
		others = "--pattern selects other lines"
	}
	f.env.Log.Infof("counting %s; %s", counter, others)
}

// list prints the counters of a log, once there are any.
func (f *following) list(reader *progress.Reader, ended bool) error {
	counters := reader.Candidates()
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

// rate prints how fast the likeliest counter counts while no total is known, each time that it
// has doubled, and the other counters.
func (f *following) rate(reader *progress.Reader) error {
	if f.counter != "" {
		return nil
	}
	found := reader.Candidates()
	if len(found) == 0 || found[0].PerSecond <= 0 || found[0].Counter == f.paced && found[0].Number < 2*f.counted {
		return nil
	}
	pace := found[0]
	f.counted, f.paced = pace.Number, pace.Counter
	if f.answer.JSON() {
		return f.env.WriteJSONLine(pace)
	}
	if f.job.epochs > 0 {
		if pace.Part > 0 && int(pace.Part) != f.job.epochs {
			f.warnOnce("contrary", "%q counts to %.10g, not to the %d of --epochs", pace.Counter, pace.Part, f.job.epochs)
		}
		_, err := fmt.Fprintf(f.env.Stdout, "%s; it is not known how that leads to %d epochs\n", pace.Pace(), f.job.epochs)
		return err
	}
	how := "no total found, use --epochs N"
	if pace.Part > 0 {
		how = "it may be one of several such loops, use --epochs N"
	}
	flag := "--count=TEXT"
	if f.log == "" {
		flag = "--pattern"
	}
	switch {
	case f.isMissed(found):
		how = fmt.Sprintf("--count=%s is in no counter (%s)", f.count, shownCandidates(found))
	case len(found) > 1:
		how += fmt.Sprintf(" or %s for another counter (%s)", flag, shownCandidates(found[1:]))
	}
	_, err := fmt.Fprintf(f.env.Stdout, "%s; %s\n", pace.Pace(), how)
	return err
}

// shownCandidates lists the first few counters with their numbers.
func shownCandidates(found []progress.Candidate) string {
	var texts []string
	for _, c := range found[:min(len(found), 4)] {
		texts = append(texts, c.String())
	}
	return strings.Join(texts, ", ")
}

// logEnded prints how a log has ended.
func (f *following) logEnded(reader *progress.Reader, s follow.State) error {
	n := len(s.Marks)
	if n == 0 {
		if reader.Full() {
			f.env.Log.Infof("%s: all %v %s have ended", f.log, reader.Length(), progress.Plural(f.unit()))
			return io.EOF
		}
		found := reader.Candidates()
		if f.isMissed(found) {
			return fmt.Errorf("--count=%s: no counter in %s contains it; --count lists them", f.count, f.log)
		}
		return fmt.Errorf("%s: %s, and %s", f.log, s.Why, why(reader))
	}
	f.tracker.Ended = true
	if err := f.printMarks(s.Marks); err != nil {
		return err
	}
	if reader.Full() {
		return io.EOF
	}
	last := s.Marks[n-1]
	return fmt.Errorf("%s: %s at %s %.4g of %.10g", f.log, s.Why, f.unit(), last.Number, last.Of)
}

// why returns why no progress was found in a log.
func why(reader *progress.Reader) string {
	found := reader.Candidates()
	if reader.LastUnit() > 0 || len(found) > 0 && found[0].PerSecond <= 0 {
		return "no times of its units are known: its lines contain none, and were there before or came at once"
	}
	return cmp.Or(reader.Why(), "no progress was found")
}

// isMissed reports whether --count=TEXT is in the description of no counter.
func (f *following) isMissed(found []progress.Candidate) bool {
	return f.count != "" && !slices.ContainsFunc(found, func(c progress.Candidate) bool {
		return strings.Contains(strings.ToLower(c.Counter), strings.ToLower(f.count))
	})
}

// warnRestart says that a run was resumed, or begun again in the same log.
func (f *following) warnRestart(first float64, u follow.Update) {
	unit := f.unit()
	switch n := len(f.updates); {
	case n == 0 && f.tracker.Job.Epochs > 0 && first > resumedShare*float64(u.Epochs):
		f.env.Log.Infof("the log begins at %s %.10g of %d: the run was resumed there, or the log is joined late", unit, first, u.Epochs)
	case n > 0 && f.updates[n-1].Epochs == u.Epochs && u.Done < f.updates[n-1].Done-1:
		f.env.Log.Warnf("the run was begun again: %s %.10g, was %.10g", unit, u.Done, f.updates[n-1].Done)
		f.shown = 0
	}
}

// warnOpen says, once, that the total is a maximum, or open by one.
func (f *following) warnOpen(u follow.Update) {
	units := progress.Plural(f.unit())
	switch {
	case u.Least == 0:
	case u.Least <= u.Done:
		f.warnOnce("open", "%d %s are a maximum: the run may end before", u.Epochs, units)
	default:
		f.warnOnce("open", "the numbers begin with 0 and may go to %d: %g or %d %s in all; --epochs settles it", u.Epochs-1, u.Least, u.Epochs, units)
	}
}

// resumedShare is the share of the units before the first mark from which on a run was
// not begun with it.
const resumedShare = 0.2
