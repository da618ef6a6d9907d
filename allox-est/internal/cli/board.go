package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/follow"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/slurm"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
)

// allJobs is the value of --slurm for all jobs of the user.
const allJobs = "all"

// The times between two looks at the logs, and at Slurm's queue. The table is computed again
// when idleShare times the processor time of the last one has passed.
const (
	boardEvery = 2 * time.Second
	queueEvery = 30 * time.Second
	idleShare  = 40
)

// jobTable is the table of several jobs that are followed.
type jobTable struct {
	*following
	board   follow.Board
	readers *crash.Group
	ends    map[string]context.CancelFunc // of the reading of each Slurm job
	shown   string                        // what was printed last
	lines   int                           // on the terminal
}

// followAll follows several logs, or Slurm jobs, in one table.
func (f *following) followAll(ctx context.Context, logs []string) error {
	reading, stop := context.WithCancel(ctx)
	t := jobTable{following: f, ends: map[string]context.CancelFunc{}}
	t.readers, reading = crash.WithContext(reading)
	if f.log != "" {
		for _, path := range append([]string{f.log}, logs...) {
			err := t.read(reading, path, path, time.Time{})
			if err != nil {
				stop()
				return err
			}
		}
	}
	err := t.refresh(ctx, reading)
	stop()
	return cmp.Or(err, t.readers.Wait())
}

// read follows a log in the background.
func (t *jobTable) read(ctx context.Context, name, path string, limit time.Time) error {
	reader, err := (&jobspec.Spec{Progress: jobspec.Progress{Pattern: t.job.pattern}}).Reader(t.job.epochs)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	t.board.Add(name, limit, follow.Tracker{Job: estimate.Job{Epochs: t.job.epochs}})
	if t.ends[name] != nil {
		return nil // it is read already
	}
	ctx, t.ends[name] = context.WithCancel(ctx)
	log := follow.Log{Path: path, Reader: &reader, Every: boardEvery, Proc: "/proc"}
	t.readers.Go(func() error {
		t.board.Follow(ctx, name, log, time.Now)
		return nil
	})
	return nil
}

// refresh prints the table until all jobs have ended.
func (t *jobTable) refresh(ctx, reading context.Context) error {
	var asked time.Time
	for {
		before := processorTime()
		if t.slurm != "" && time.Since(asked) > queueEvery {
			asked = time.Now()
			if err := t.readQueue(reading); err != nil {
				return err
			}
		}
		rows := t.board.Rows(time.Now())
		if err := t.print(rows); err != nil {
			return err
		}
		if !slices.ContainsFunc(rows, func(r follow.Row) bool { return r.State == follow.Waiting || r.State == follow.Running }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(boardEvery, idleShare*(processorTime()-before))):
		}
	}
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// readQueue adds the jobs in Slurm's queue, and ends those that have left it.
func (t *jobTable) readQueue(ctx context.Context) error {
	jobs, err := slurm.Queue(ctx, os.Getuid())
	if err != nil {
		return fmt.Errorf("--slurm %s: %w", t.slurm, err)
	}
	left := map[string]bool{}
	for name := range t.ends {
		left[name] = true
	}
	wanted := strings.Split(t.slurm, ",")
	for _, name := range wanted {
		if t.shown == "" && !slices.ContainsFunc(jobs, func(j slurm.Queued) bool { return name == allJobs || j.Job == name }) {
			t.env.Log.Warnf("--slurm %s: no job of yours in Slurm's queue", name)
		}
	}
	for _, j := range jobs {
		if t.slurm != allJobs && !slices.Contains(wanted, j.Job) {
			continue
		}
		name := j.Job + " " + j.Name
		if j.State != "RUNNING" {
			t.board.Add(name, time.Time{}, follow.Tracker{Job: estimate.Job{Epochs: t.job.epochs}})
			continue
		}
		delete(left, name)
		shown, err := slurm.Show(ctx, j.Job)
		if err != nil {
			continue // it has just ended
		}
		var limit time.Time
		if shown.Limit > 0 {
			limit = time.Now().Add(shown.Limit - shown.Elapsed)
		}
		if err := t.read(ctx, name, shown.Log, limit); err != nil {
			return err
		}
	}
	for name := range left {
		t.ends[name]()
		t.board.End(name, "it is no longer in Slurm's queue")
	}
	return nil
}

// print prints the rows: in place on a terminal, otherwise at every twentieth of a job, and as
// JSON whenever the progress of one has changed.
func (t *jobTable) print(rows []follow.Row) error {
	var progress strings.Builder
	for _, r := range rows {
		done := r.Done
		if !t.answer.JSON() && r.Epochs > 0 {
			done = math.Floor(20 * done / float64(r.Epochs))
		}
		fmt.Fprintln(&progress, r.Job, r.State, done)
		if r.State == follow.Running {
			fmt.Fprintln(&progress, r.Note)
		}
	}
	terminal := cli.IsTerminal(t.env.Stdout)
	if progress.String() == t.shown && !terminal {
		return nil
	}
	t.shown = progress.String()
	if t.answer.JSON() {
		return t.env.WriteJSONLine(rows)
	}
	var text bytes.Buffer
	page := &cli.Page{}
	showRows(page, rows, time.Now())
	if _, err := page.WriteTo(&text); err != nil {
		return err
	}
	shown := text.String()
	if terminal {
		shown = t.fit(shown)
		if t.lines > 0 {
			shown = fmt.Sprintf("\x1b[%dA\x1b[J", t.lines) + shown
		}
	}
	t.lines = strings.Count(shown, "\n")
	_, err := io.WriteString(t.env.Stdout, shown)
	return err
}

// fit cuts a text to the size of the terminal, which could not be moved back over more.
func (t *jobTable) fit(text string) string {
	size, err := unix.IoctlGetWinsize(int(t.env.Stdout.(*os.File).Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines[:len(lines)-1] {
		if runes := []rune(line); len(runes) > int(size.Col) {
			lines[i] = string(runes[:size.Col-1]) + "\n"
		}
	}
	return strings.Join(lines[:min(len(lines), int(size.Row)-1)], "")
}

// showRows prints one line for each job.
func showRows(p *cli.Page, rows []follow.Row, now time.Time) {
	t := p.Table("job", "progress", "left", "end", "earliest", "latest", "limit in", "killed at its limit")
	at := func(seconds float64) string {
		end := now.Add(time.Duration(seconds * float64(time.Second)))
		switch {
		case seconds < 600:
			return end.Format("15:04:05")
		case end.YearDay() == now.YearDay():
			return end.Format("15:04")
		}
		return end.Format("2 Jan 15:04")
	}
	for _, r := range rows {
		cells := []any{r.Job, r.State, nil, nil, nil, nil, nil, nil}
		if r.Epochs > 0 {
			cells[1] = fmt.Sprintf("%s %.5g of %d", cmp.Or(r.Unit, jobspec.Epoch), r.Done, r.Epochs)
		}
		if r.Epochs > 0 && r.Done >= float64(r.Epochs) {
			cells[1] = fmt.Sprintf("%v, waiting for the end", cells[1])
		}
		if r.State == follow.Running && r.Note != "" {
			cells[1] = fmt.Sprintf("%v; %s", cells[1], r.Note)
		}
		if r.State == follow.Ended || r.State == follow.Unread || r.Epochs == 0 && r.Note != "" {
			cells[1] = fmt.Sprintf("%s: %s", r.State, r.Note)
		}
		if r.Left != nil {
			cells[2], cells[3] = duration(r.Left.Value), at(r.Left.Value)
			if r.Refused == "" && r.Left.IsBounded() {
				cells[4], cells[5] = at(r.Left.Low), at(r.Left.High)
			}
		}
		if r.Limit != nil {
			cells[6] = duration(*r.Limit)
		}
		if r.Killed != nil {
			cells[7] = "probability " + probability(*r.Killed)
		}
		t.Add(cells...)
	}
}

// probability formats a probability; an interval says little of what lies far outside of it.
func probability(p float64) string {
	if p < 0.01 {
		return "below 0.01"
	}
	return fmt.Sprintf("%.2f", p)
}
