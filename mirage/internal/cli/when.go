package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/mirage/internal/slurm"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// answered is what mirage when --json prints.
type answered struct {
	At    string                 `json:"at"`
	Wait  uncertainty.Prediction `json:"wait_hours"`
	Start string                 `json:"start"`
	// By and Chance are how likely the job starts by a time, where one was given
	// and is known.
	By string `json:"by,omitempty"`
	// TestOnly is what sbatch --test-only says, where a real Slurm was asked.
	TestOnly     string        `json:"test_only,omitempty"`
	Chance       *float64      `json:"chance,omitempty"`
	Notes        []string      `json:"notes,omitempty"` // in what it goes beyond what is known
	Alternatives []alternative `json:"alternatives"`
	Handover     *handover     `json:"handover,omitempty"` // with --curve
}

// alternative is a cheaper shape of the job.
type alternative struct {
	Shape        string                 `json:"shape"`
	Wait         uncertainty.Prediction `json:"wait_hours"`
	EarlierHours float64                `json:"earlier_hours"`
}

// when carries what the when command works with.
type when struct {
	in     *settings
	at     string
	level  float64
	record *cli.Record // of starts on a real Slurm
}

func newWhenCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	w := when{in: newSettings(), record: record}
	q := anyQuestion()
	var out cli.Output
	c := &cobra.Command{
		Use:   "when [LOG [QUEUE]]",
		Short: "predict when a job would start, submitted now or at an instant of a log",
		Long: `Predict when a job of a shape would start if it were submitted at an instant of
a log, from what the log shows by then, with an interval, the chance of a start
by a given time, and which shorter or smaller shape, or other partition, would
start earlier.

The jobs that wait or run at the log's end are its rows without a start or an end,
as sacct prints them, or QUEUE, as squeue --json or squeue with the columns
JOBID, USER, STATE, SUBMIT_TIME, START_TIME, TIME_LIMIT and NODES prints them.

Without a log a real Slurm is asked, as it is now: its nodes, its queue, and how
long jobs ran lately, beside what sbatch --test-only says. With --config the
rules of that file take the place of Slurm's own priorities.`,
		Example: `  mirage when ls6-a100.log --at 2023-02-10T12:00 --job-nodes 4 --job-limit 12h --user 00312 --by 2023-02-11
  mirage when sacct.txt squeue.json --job-nodes 2 --job-limit 4h
  mirage when --job-gpus 2 --job-limit 4h`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := w.answer(cmd.Context(), env, args, q)
			if err != nil {
				return err
			}
			return out.Print(env, a, a.show)
		},
	}
	f := c.Flags()
	f.StringVar(&w.at, "at", "", "when the job is submitted (default: when the log's last job is, or, of a log with a queue, its end)")
	f.Float64Var(&q.overlap, "curve", 0, "give the chance of a start by any time, and when to submit a successor where an hour of overlap with it costs so many of interruption (--curve=3; --curve alone: 1)")
	f.Lookup("curve").NoOptDefVal = "1"
	q.flags(f, "job-")
	w.flags(c)
	out.Flags(c)
	cli.First(c, "job-nodes", "job-limit", "at", "by", "json")
	return c
}

// answer is of the log that is named, or of a real Slurm.
func (w *when) answer(ctx context.Context, env *cli.Env, args []string, q question) (*answered, error) {
	if len(args) == 0 && w.at != "" {
		return nil, cli.Usagef("--at needs a log")
	}
	s, err := open(ctx, env, w, args, time.Hour)
	if err != nil {
		return nil, err
	}
	a, err := s.ask(ctx, q)
	if err != nil || len(args) > 0 {
		return a, err
	}
	job := q.job()
	at, err := (&slurm.Client{Runner: slurm.Exec{}}).TestOnly(ctx, slurm.Options(&job))
	if err != nil {
		env.Log.Warnf("Slurm's own answer: %v", err)
		return a, nil
	}
	a.TestOnly = local(at)
	return a, nil
}

// flags are the settings and the level of intervals.
func (w *when) flags(c *cobra.Command) {
	w.in.flags(c)
	c.Flags().Float64Var(&w.level, "level", .8, "level of the interval")
}

// question is a job that may be submitted.
type question struct {
	nodes           int
	limit           span
	partition, user string
	by              string // a time, or ""
	takes           live
	overlap         float64 // cost of an hour, in hours of interruption; 0 asks for no curve
}

// anyQuestion is of what a job is of which nothing is said.
func anyQuestion() question { return question{nodes: 1, limit: 86400} }

// flags are what may be said of a job, on a command line or in a URL; what a command has
// flags of its own for has a prefix.
func (q *question) flags(f *pflag.FlagSet, prefix string) {
	f.StringVar(&q.by, "by", "", "a time (2026-11-23T08:00, 08:00, tomorrow, now+2hours): how likely does the job start by then?")
	f.IntVar(&q.nodes, prefix+"nodes", q.nodes, "nodes of the job, or processors where the log counts those")
	f.Var(&q.limit, prefix+"limit", "time limit of the job")
	f.StringVar(&q.partition, prefix+"partition", "", "partition of the job")
	f.StringVar(&q.user, "user", "", "who submits it, as the log names users")
	f.IntVar(&q.takes.cpus, prefix+"cpus", 0, "on a real Slurm: CPUs of the job, on all its nodes (default: one a node, or whole nodes without GPUs and memory)")
	f.IntVar(&q.takes.gpus, prefix+"gpus", 0, "on a real Slurm: GPUs of the job, on all its nodes")
	f.Int64Var(&q.takes.memory, prefix+"memory", 0, "on a real Slurm: memory of the job in MB, on all its nodes")
	f.BoolVar(&q.takes.exclusive, prefix+"exclusive", false, "on a real Slurm: the job shares its nodes with nobody")
	f.Lookup(prefix + "exclusive").Hidden = true // rare, and one flag less to read past
}

// check refuses what can be no job, with an error of usage.
func (q *question) check() error {
	if q.nodes < 1 || q.limit < 60 {
		return cli.Usagef("a job of %s and %d s: want a node and a minute at least", counted(q.nodes, "node"), int64(q.limit))
	}
	if q.overlap != 0 {
		if err := checkOverlap("curve", q.overlap); err != nil {
			return err
		}
	}
	if t := q.takes; t.cpus < 0 || t.gpus < 0 || t.memory < 0 {
		return cli.Usagef("a job of %d CPUs, %d GPUs and %d MB: want none below 0", t.cpus, t.gpus, t.memory)
	}
	return nil
}

// known is a log at an instant, ready to answer.
type known struct {
	t        *trace.Trace
	jobs     []trace.Job // of the log and its queue
	f        *backtest.Forecaster
	at       int64
	size     int // of the machine; 0 where it is not known
	peak     int // the most nodes in use at once
	priority float64
	shows    *shows
}

// read reads a log, and its queue where that is in a file of its own, and learns from
// it up to the instant.
func (w *when) read(ctx context.Context, env *cli.Env, paths []string) (*known, error) {
	t, err := w.in.open(env, paths[0])
	if err != nil {
		return nil, err
	}
	if len(paths) > 1 {
		if err := w.in.openQueue(env, t, paths[1]); err != nil {
			return nil, err
		}
	}
	at, err := w.instant(t)
	if err != nil {
		return nil, err
	}
	all := t.All()
	settings := w.in.forecasts(t, all, at)
	settings.Level = w.level
	f, err := backtest.NewForecaster(all, settings)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	n, _ := slices.BinarySearchFunc(all, at, func(j trace.Job, at int64) int { return cmp.Compare(j.Submit, at) })
	return &known{t, all, f, at, settings.Size, t.PeakNodes(), trace.MedianPriority(all[:n]), showsOf(all[:n], at)}, f.Reach(ctx, at)
}

// ask answers a question. The error is one of usage where the job cannot be.
func (k *known) ask(q question) (*answered, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.takes.given() {
		return nil, cli.Usagef("CPUs, GPUs, memory and exclusive nodes of a job are for a real Slurm: what a log counts is log.unit's to say")
	}
	if err := k.fits(q.nodes); err != nil {
		return nil, err
	}
	partition, err := k.shows.partition(q.partition)
	if err != nil {
		return nil, err
	}
	job := trace.Job{User: q.user, Partition: partition, Nodes: q.nodes, Limit: int64(q.limit), Submit: k.at, Priority: k.priority}
	if k.shows.limit == 0 {
		job.Limit = trace.Unlimited
	}
	answer, err := k.f.Ask(job)
	if err != nil {
		return nil, err
	}
	a := &answered{At: clock(k.t, k.at), Wait: answer.Times(1. / 3600), Start: clock(k.t, k.at+int64(answer.Value)), Notes: append(k.shows.notes(q, job), k.queue()...), Alternatives: []alternative{}}
	switch {
	case !answer.Bounded():
		a.Notes = append(a.Notes, "too few jobs have started for an interval")
	case answer.Width() > 86400:
		a.Notes = append(a.Notes, k.shows.wide(k.jobs, job, k.at))
	}
	if err := a.byThen(q.by, k.t.Zone, k.at, answer.Chance); err != nil {
		return nil, err
	}
	if q.overlap > 0 {
		a.Handover = handoverAt(answer, q.overlap)
	}
	shapes := cheaper(job)
	for _, p := range k.shows.names() {
		if other := job; p != job.Partition {
			other.Partition = p
			shapes = append(shapes, shape{"partition " + p, other})
		}
	}
	return a, a.compare(shapes, func(j trace.Job) (uncertainty.Prediction, error) {
		other, err := k.f.Ask(j)
		return other.Times(1. / 3600), err
	})
}

// fits refuses a job that is larger than the machine, or than all that was ever
// in use where its size is not known.
func (k *known) fits(nodes int) error {
	if k.size > 0 && nodes > k.size {
		return cli.Usagef("a job of %d nodes: the machine has %d, so that it would never start", nodes, k.size)
	}
	if k.size == 0 && nodes > k.peak {
		return cli.Usagef("a job of %d nodes: no more than %d were ever in use at once; where the machine has more, --set nodes= says so", nodes, k.peak)
	}
	return nil
}

func (w *when) instant(t *trace.Trace) (int64, error) {
	if w.at == "" && len(t.Open) > 0 {
		return t.End() + 1, nil
	}
	if w.at == "" {
		return t.Jobs[len(t.Jobs)-1].Submit + 1, nil
	}
	at, err := t.Date(w.at)
	if err != nil {
		return 0, cli.Usagef("--at: %w", err)
	}
	if at <= t.Jobs[0].Submit {
		return 0, cli.Usagef("--at %s: the log begins at %s", w.at, clock(t, t.Jobs[0].Submit))
	}
	return at, nil
}

// byThen tells the chance of a start by a time of the zone's clock, where it is known
// how likely a wait of at most so many seconds is.
func (a *answered) byThen(text string, zone *time.Location, now int64, chance func(seconds float64) (float64, bool)) error {
	if text == "" {
		return nil
	}
	by, err := trace.ParseNext(text, zone, now)
	if err != nil {
		return cli.Usagef("--by: %w", err)
	}
	shown := func(unix int64) string { return time.Unix(unix, 0).In(zone).Format(time.DateTime) }
	if by < now {
		return cli.Usagef("a start by %s: want a time after %s", text, shown(now))
	}
	a.By = shown(by)
	if p, known := chance(float64(by - now)); known {
		a.Chance = &p
	}
	return nil
}

// compare asks for the waits of other shapes, in hours, and keeps those that would
// start earlier, the earliest first.
func (a *answered) compare(shapes []shape, wait func(trace.Job) (uncertainty.Prediction, error)) error {
	for _, s := range shapes {
		hours, err := wait(s.job)
		if err != nil {
			return err
		}
		if earlier := a.Wait.Value - hours.Value; earlier > 1./60 {
			a.Alternatives = append(a.Alternatives, alternative{s.name, hours, earlier})
		}
	}
	slices.SortStableFunc(a.Alternatives, func(x, y alternative) int { return cmp.Compare(y.EarlierHours, x.EarlierHours) })
	return nil
}

func (a *answered) show(p *cli.Page) {
	p.Line("submitted at %s it would wait %v, and start at %s", a.At, wait(a.Wait), a.Start)
	if a.Chance != nil {
		p.Line("it starts by %s with a chance of %s", a.By, cli.Text(cli.Share(*a.Chance)))
	}
	if a.TestOnly != "" {
		p.Line("Slurm itself says %s", a.TestOnly)
	}
	if a.Handover != nil {
		a.Handover.show(p)
	}
	for _, note := range a.Notes {
		p.Line("note: %s", note)
	}
	for _, x := range a.Alternatives {
		p.Line("with %s it would start %v earlier", x.Shape, lasting(x.EarlierHours))
	}
}
