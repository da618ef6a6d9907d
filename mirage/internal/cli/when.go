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

// answered is the JSON output of mirage when.
type answered struct {
	At    string                 `json:"at"`
	Wait  uncertainty.Prediction `json:"wait_hours"`
	Start string                 `json:"start"`
	// Chance is the probability of a start by the time By, if By was given and the
	// probability is known.
	By string `json:"by,omitempty"`
	// TestOnly is the start that sbatch --test-only predicts on a live Slurm.
	TestOnly     string        `json:"test_only,omitempty"`
	Chance       *float64      `json:"chance,omitempty"`
	Notes        []string      `json:"notes,omitempty"` // extrapolations and doubts
	Alternatives []alternative `json:"alternatives"`
	Handover     *handover     `json:"handover,omitempty"` // with --curve
}

// alternative is a cheaper shape of the job.
type alternative struct {
	Shape        string                 `json:"shape"`
	Wait         uncertainty.Prediction `json:"wait_hours"`
	EarlierHours float64                `json:"earlier_hours"`
}

// when holds the settings of the when command.
type when struct {
	in     *settings
	at     string
	level  float64
	record *cli.Record // of starts on a live Slurm
}

func newWhenCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	w := when{in: newSettings(), record: record}
	q := anyQuestion()
	var out cli.Output
	c := &cobra.Command{
		Use:   "when [LOG [QUEUE]]",
		Short: "Predict when a job would start on a Slurm cluster",
		Long: `Predict when a job would start if it were submitted now: the wait with an interval,
the probability of a start by a given time, and the shorter or smaller shapes or other
partitions that would start earlier.

Without a log, the live Slurm is queried: its nodes, its queue and the run times of
recent jobs. The start that sbatch --test-only predicts is shown for comparison. With
--config, the rules of that file replace Slurm's own priorities.

With an accounting log, "now" is the end of the log, or --at. Jobs pending or running
at its end are its rows without a start or an end, as sacct prints them, or those of
QUEUE: the output of squeue --json, or of squeue with the columns JOBID, USER, STATE,
SUBMIT_TIME, START_TIME, TIME_LIMIT and NODES.`,
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
	f.StringVar(&w.at, "at", "", "submission time of the job (default: the last submission in the log, or the log's end if it contains a queue)")
	f.Float64Var(&q.overlap, "curve", 0, "print the distribution of the start time, and when to submit a successor if an hour of overlap costs C hours of interruption (--curve=C; --curve alone: 1)")
	f.Lookup("curve").NoOptDefVal = "1"
	q.flags(f, "job-")
	w.flags(c)
	out.Flags(c)
	cli.First(c, "job-nodes", "job-limit", "at", "by", "json")
	return c
}

// answer answers from the log, or from the live Slurm.
func (w *when) answer(ctx context.Context, env *cli.Env, args []string, q question) (*answered, error) {
	if len(args) == 0 && w.at != "" {
		return nil, cli.Usagef("--at: want a LOG argument")
	}
	s, err := open(ctx, env, w, args, time.Hour)
	if err != nil {
		return nil, err
	}
	q.takes.exclusive = w.in.Service.Exclusive
	a, err := s.ask(ctx, q)
	if err != nil || len(args) > 0 {
		return a, err
	}
	job := q.job()
	at, err := (&slurm.Client{Runner: slurm.Exec{}}).TestOnly(ctx, slurm.Options(&job))
	if err != nil {
		env.Log.Warnf("no prediction by Slurm for comparison: %v", err)
		return a, nil
	}
	a.TestOnly = local(at)
	return a, nil
}

// flags adds the settings and --level.
func (w *when) flags(c *cobra.Command) {
	w.in.flags(c)
	c.Flags().Float64Var(&w.level, "level", 0.8, "level of the interval")
}

// question is a job that may be submitted.
type question struct {
	nodes           int
	limit           span
	partition, user string
	by              string // a time, or ""
	takes           live
	overlap         float64 // cost of an hour, in hours of interruption; 0: no curve
}

// anyQuestion returns the default job.
func anyQuestion() question { return question{nodes: 1, limit: 86400} }

// flags adds the flags that describe a job, on a command line or in a URL. The prefix
// keeps them apart from other flags of a command.
func (q *question) flags(f *pflag.FlagSet, prefix string) {
	f.StringVar(&q.by, "by", "", "print the probability of a start by this time (2026-11-23T08:00, 08:00, tomorrow, now+2hours)")
	f.IntVar(&q.nodes, prefix+"nodes", q.nodes, "nodes of the job, or processors if the log counts processors")
	f.Var(&q.limit, prefix+"limit", "time limit of the job")
	f.StringVar(&q.partition, prefix+"partition", "", "partition of the job")
	f.StringVar(&q.user, "user", "", "user who submits the job, as named in the log")
	f.IntVar(&q.takes.cpus, prefix+"cpus", 0, "live Slurm: CPUs of the job on all its nodes (default: one per node; whole nodes if GPUs and memory are not given either)")
	f.IntVar(&q.takes.gpus, prefix+"gpus", 0, "live Slurm: GPUs of the job on all its nodes")
	f.Int64Var(&q.takes.memory, prefix+"memory", 0, "live Slurm: memory of the job in MB on all its nodes")
}

// check returns a usage error for an impossible job.
func (q *question) check() error {
	if q.nodes < 1 || q.limit < 60 {
		return cli.Usagef("a job of %s and %d s: want at least one node and 60 s", counted(q.nodes, "node"), int64(q.limit))
	}
	if q.overlap != 0 {
		if err := checkOverlap("curve", q.overlap); err != nil {
			return err
		}
	}
	if t := q.takes; t.cpus < 0 || t.gpus < 0 || t.memory < 0 {
		return cli.Usagef("a job of %d CPUs, %d GPUs and %d MB: want numbers from 0", t.cpus, t.gpus, t.memory)
	}
	return nil
}

// known is a log at a time, ready to answer.
type known struct {
	t        *trace.Trace
	jobs     []trace.Job // of the log and its queue
	f        *backtest.Forecaster
	at       int64
	size     int // of the cluster; 0 if unknown
	peak     int // largest number of nodes in use at once
	priority float64
	shows    *shows
}

// read reads a log, and its queue if that is a separate file, and fits the forecaster
// to the jobs before the time of the question.
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

// ask answers a question. It returns a usage error for an impossible job.
func (k *known) ask(q question) (*answered, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.takes.given() {
		return nil, cli.Usagef("CPUs, GPUs, memory and exclusive nodes of a job are only used on a live Slurm; for a log, set the counted unit by log.unit")
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

// fits returns a usage error for a job that is larger than the cluster, or, if its size
// is unknown, than the peak use.
func (k *known) fits(nodes int) error {
	if k.size > 0 && nodes > k.size {
		return cli.Usagef("job wants %d nodes, the cluster has %d: it can never start", nodes, k.size)
	}
	if k.size == 0 && nodes > k.peak {
		return cli.Usagef("job wants %d nodes, the log has at most %d in use at once; set the size of a larger cluster by --set nodes=", nodes, k.peak)
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

// byThen sets the probability of a start by a time in the time zone, if chance knows the
// probability of a wait of at most so many seconds.
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
		return cli.Usagef("--by: %s, want a time after %s", text, shown(now))
	}
	a.By = shown(by)
	if p, known := chance(float64(by - now)); known {
		a.Chance = &p
	}
	return nil
}

// compare predicts the waits of other shapes, in hours, and keeps those that would start
// earlier, the earliest first.
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
		p.Line("probability of a start by %s: %s", a.By, cli.Text(cli.Share(*a.Chance)))
	}
	if a.TestOnly != "" {
		p.Line("sbatch --test-only predicts %s", a.TestOnly)
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
