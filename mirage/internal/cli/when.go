package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// when holds the settings of the when command.
type when struct {
	in     *settings
	at     string
	level  float64
	record *cli.Record // of starts on a live Slurm
	flags  *pflag.FlagSet
	pbs    bool // the batch script has #PBS lines, which sbatch reads
	// uncached keeps and uses no forecasters of earlier runs.
	uncached bool
}

// cache returns the cache of forecasters; nil is none.
func (w *when) cache(env *cli.Env) *forecast.Cache {
	program, err := os.Executable()
	if w.uncached || env.Cache == "" || err != nil {
		return nil
	}
	info, err := os.Stat(program)
	if err != nil {
		return nil
	}
	return &forecast.Cache{
		Dir:     filepath.Join(env.Cache, "foretime", "mirage"),
		Program: fmt.Sprint(info.Size(), info.ModTime().UnixNano()),
		Warn:    func(err error) { env.Log.Debug(err) },
	}
}

// batchFlags adds the options of sbatch, which its manual describes, to some flags.
func batchFlags(f *pflag.FlagSet) {
	for _, o := range slurmview.BatchOptions() {
		short := o.Short
		if f.ShorthandLookup(short) != nil {
			short = ""
		}
		f.StringP(o.Name, short, "", "option of sbatch")
		flag := f.Lookup(o.Name)
		flag.Hidden = true
		if o.Switch {
			flag.NoOptDefVal = "yes"
		}
	}
}

// batchValues reads options of sbatch by their long names; later ones count. The error
// wraps slurmview.ErrOption.
func batchValues(options []string) (map[string]string, error) {
	f := pflag.NewFlagSet("sbatch", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	batchFlags(f)
	if err := f.Parse(options); err != nil {
		return nil, fmt.Errorf("%w: %w", slurmview.ErrOption, err)
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%w: %q", slurmview.ErrOption, f.Arg(0))
	}
	values := map[string]string{}
	f.Visit(func(f *pflag.Flag) { values[f.Name] = f.Value.String() })
	return values, nil
}

// lastOptions returns options of sbatch with only the last of each name, sorted: a script may have
// more of them than an argument list holds.
func lastOptions(options []string) (last []string) {
	values, _ := batchValues(options) // describe has checked them
	for _, o := range slurmview.BatchOptions() {
		value, given := values[o.Name]
		switch {
		case given && o.Switch && value == "yes":
			last = append(last, "--"+o.Name)
		case given:
			last = append(last, "--"+o.Name+"="+value)
		}
	}
	slices.Sort(last)
	return last
}

// script takes a batch script out of the arguments and returns sbatch's options: of its
// #SBATCH lines, then of the command line.
func (w *when) script(args []string) (logs, options []string, err error) {
	for _, o := range slurmview.BatchOptions() {
		if flag := w.flags.Lookup(o.Name); flag.Changed {
			options = append(options, "--"+o.Name+"="+flag.Value.String())
		}
	}
	text := readScript(args)
	if !strings.HasPrefix(text, "#!") {
		if strings.Contains(text, "#SBATCH") {
			return nil, nil, cli.Usagef("%s: the first line of a batch script begins with #!, or sbatch refuses it", args[0])
		}
		return args, options, nil // what reads the log says why it cannot be read, or waits for a pipe
	}
	lines, err := slurmview.Script(text)
	if err != nil {
		return nil, nil, cli.Usagef("%s: %w", args[0], err)
	}
	options = append(lines, options...)
	ignored := slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, "--ignore-pbs") })
	w.pbs = slurmview.HasPBS(text) && !ignored
	return nil, options, nil
}

// readScript returns the text of the only argument, if that is a file which may be a batch
// script, and else of its beginning; "" if there is none.
func readScript(args []string) string {
	if len(args) != 1 {
		return ""
	}
	if info, err := os.Stat(args[0]); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(args[0])
	if err != nil {
		return ""
	}
	defer f.Close()
	buffered := bufio.NewReader(f)
	head, _ := buffered.Peek(buffered.Size()) // a short file has no more
	if !bytes.HasPrefix(head, []byte("#!")) {
		return string(head)
	}
	text, err := io.ReadAll(io.LimitReader(buffered, mostScript))
	if err != nil {
		return ""
	}
	return string(text)
}

// mostScript is more bytes than a batch script has (slurm.conf(5), max_script_size).
const mostScript = 4 << 20

func newWhenCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	w := when{in: newSettings(), record: record}
	q := anyQuestion()
	var out cli.Output
	c := &cobra.Command{
		Use:   "when [LOG|SCRIPT]",
		Short: "Predict when a job would start on a Slurm cluster",
		Long: `Predict when a job would start if it were submitted now: the wait with an interval,
the probability of a start by a given time, and the shorter or smaller shapes or other
partitions that would start earlier.

Without a log, the live Slurm is queried: its nodes, partitions, reservations, limits,
queue and the run times of recent jobs. The job is that of SCRIPT, a batch script with
#SBATCH lines, and of sbatch's own options (-N 2, --time=4:00:00, --gres=gpu:a100:1,
--constraint, --reservation, --array); or, with --job, one that waits in the queue. The
start that sbatch --test-only predicts, or for a queued job squeue --start, is shown for
comparison.

With an accounting log, "now" is the end of the log, or --at. Jobs pending or running
at its end are its rows without a start or an end, as sacct prints them.`,
		Example: `  mirage when ls6-a100.log --at 2023-02-10T12:00 --job-nodes 4 --job-limit 12h --user 00312 --by 2023-02-11
  mirage when --job-gpus 2 --job-limit 4h
  mirage when job.sbatch --time=4:00:00
  mirage when --job 12345`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := w.answer(cmd.Context(), env, args, q)
			if err != nil {
				return err
			}
			return out.Print(env, a, func(p *cli.Page) { showAnswer(p, a) })
		},
	}
	f := c.Flags()
	f.StringVar(&w.at, "at", "", "submission `date` of the job (default: the last submission in the log, or the log's end if it contains a queue)")
	f.Float64Var(&q.Overlap, "curve", 0, "print the distribution of the start time, and when to submit a successor if an hour of overlap costs C hours of interruption (--curve=C; --curve alone: 1)")
	f.Lookup("curve").NoOptDefVal = "1"
	f.StringVar(&q.Queued, "job", "", "live Slurm: a job that waits in the queue, 12345 or 12345_7")
	questionFlags(&q, f, "job-")
	w.addFlags(c)
	out.Flags(c, forecast.Answer{})
	batchFlags(f)
	cli.First(c, "job-nodes", "job-limit", "at", "by", "json")
	return c
}

// answer answers from the log, or from the live Slurm.
func (w *when) answer(ctx context.Context, env *cli.Env, args []string, q forecast.Question) (*forecast.Answer, error) {
	args, options, err := w.script(args)
	if err != nil {
		return nil, err
	}
	if err := describe(&q, options, time.Now()); err != nil {
		return nil, err
	}
	if w.pbs {
		q.Unread = append(q.Unread, "its #PBS lines")
	}
	for _, name := range []string{"nodes", "limit", "partition", "gpus"} {
		if w.flags.Changed("job-"+name) && (q.Batch != nil || q.Queued != "") {
			return nil, cli.Usagef("--job-%s: the job is described by sbatch's options or by --job", name)
		}
	}
	if len(args) == 0 && w.at != "" {
		return nil, cli.Usagef("--at: want a LOG argument")
	}
	s, err := open(ctx, env, w, args, time.Hour, nil)
	if err != nil {
		return nil, err
	}
	a, err := s.answer(ctx, q)
	stuck := errors.Is(err, slurmview.ErrNoStart)
	if err != nil && !stuck || len(args) > 0 || q.Queued != "" {
		return a, err
	}
	testOptions := lastOptions(options)
	if q.Batch == nil {
		asked := q.Job()
		testOptions = slurmview.ShapeOptions(&asked)
	}
	at, testErr := (&slurmview.Client{Runner: slurmview.Exec{}}).TestOnly(ctx, testOptions)
	switch {
	case stuck && testErr == nil:
		return nil, fmt.Errorf("%w; sbatch --test-only predicts %s", err, forecast.Local(at))
	case stuck:
		return nil, fmt.Errorf("%w; %w", err, testErr)
	case testErr != nil:
		env.Log.Warnf("no prediction by Slurm for comparison: %v", testErr)
		return a, nil
	}
	a.TestOnly = forecast.Local(at)
	return a, nil
}

// addFlags adds the settings and --level.
func (w *when) addFlags(c *cobra.Command) {
	w.in.flags(c)
	w.flags = c.Flags()
	c.Flags().BoolVar(&w.uncached, "no-cache", false, "do not keep what is learnt from a log in the user's cache directory")
	c.Flags().Float64Var(&w.level, "level", 0.8, "level of the interval")
}

// anyQuestion returns the default job.
func anyQuestion() forecast.Question {
	return forecast.Question{Nodes: 1, Limit: forecast.NoLimit}
}

// questionFlags adds the flags that describe a job, on a command line or in a URL. The prefix
// keeps them apart from other flags of a command.
func questionFlags(q *forecast.Question, f *pflag.FlagSet, prefix string) {
	f.StringVar(&q.By, "by", "", "print the probability of a start by this `date` (2026-11-23T08:00, 08:00, tomorrow, now+2hours)")
	f.IntVar(&q.Nodes, prefix+"nodes", q.Nodes, "nodes of the job, or processors if the log counts processors")
	f.Var((*span)(&q.Limit), prefix+"limit", "time limit of the job (default: the partition's, or 24h for a log)")
	f.StringVar(&q.Partition, prefix+"partition", "", "partition of the job")
	f.StringVar(&q.User, "user", "", "user who submits the job, as named in the log")
	f.IntVar(&q.GPUs, prefix+"gpus", 0, "live Slurm: GPUs of the job on all its nodes (default: whole nodes)")
}

// describe makes the question that of a job of sbatch's options, if there are any.
func describe(q *forecast.Question, options []string, now time.Time) error {
	if len(options) == 0 {
		return nil
	}
	if q.Queued != "" {
		return cli.Usagef("--job: sbatch's options describe another job")
	}
	values, err := batchValues(options)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	a, unread, err := slurmview.ParseBatch(values, now)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	q.Batch, q.Unread = &a, unread
	return nil
}

// asUsage makes an error about the question a usage error.
func asUsage(err error) error {
	if wrong := (*forecast.QuestionError)(nil); errors.As(err, &wrong) {
		return cli.Usagef("%w", err)
	}
	return err
}

// read reads a log, and fits the forecaster to the jobs before the time of the question.
func (w *when) read(ctx context.Context, env *cli.Env, path string) (*forecast.Log, error) {
	t, err := w.in.openWaits(env, path)
	if err != nil {
		return nil, err
	}
	at, err := w.instant(t)
	if err != nil {
		return nil, err
	}
	settings := forecast.LogSettings(t.All(), w.in.clusterSize(t), at)
	settings.Level, settings.Threads = w.level, w.in.Workers
	var config *simulator.Config
	if w.in.describesMachine() {
		config = &w.in.Config
	}
	l, err := forecast.NewLog(ctx, t, at, settings, config, w.cache(env))
	return l, asUsage(err)
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
		return 0, cli.Usagef("--at %s: the log begins at %s", w.at, t.Clock(t.Jobs[0].Submit))
	}
	return at, nil
}

// showAnswer prints an answer for people.
func showAnswer(p *cli.Page, a *forecast.Answer) {
	if a.Started {
		p.Line("at %s it runs already, since %s: %s", a.At, a.Start, a.Asked)
		return
	}
	longer, begin := "", "submitted at "+a.At.String()+" it would wait"
	if len(a.Unread) > 0 {
		longer = " or longer"
	}
	if !a.Submitted.IsZero() {
		begin = "submitted at " + a.Submitted.String() + ", from " + a.At.String() + " it would wait"
	}
	p.Line("%s %v%s, and start at %s%s: %s", begin, wait(a.Wait), longer, a.Start, unread(a.Unread), a.Asked)
	if x := a.Parts; x != nil {
		p.Line("of that %s", parts(x))
	}
	if a.Chance != nil {
		p.Line("probability of a start by %s: %s", a.By, cli.Text(cli.Share(*a.Chance)))
	}
	if !a.TestOnly.IsZero() {
		p.Line("sbatch --test-only predicts %s", a.TestOnly)
	}
	if a.Handover != nil {
		showHandover(p, a.Handover)
	}
	for _, note := range a.Notes {
		p.Line("note: %s", note)
	}
	for _, x := range a.Alternatives {
		p.Line("with %s it would start %v earlier or more in 4 of 5 simulated futures", x.Shape, lasting(x.EarlierHours))
	}
}

// parts lists the parts of a wait that there are.
func parts(x *forecast.Parts) string {
	var words []string
	for _, part := range []struct {
		name  string
		hours float64
	}{{"until it is eligible", x.Eligible}, {"for the job that it depends on", x.Dependency}, {"for its own limits", x.Limits}, {"for room", x.Room}} {
		if part.hours > 0 {
			words = append(words, fmt.Sprintf("%v %s", lasting(part.hours), part.name))
		}
	}
	return strings.Join(words, ", ")
}

// unread names what is not known, for the first line.
func unread(what []string) string {
	if len(what) == 0 {
		return ""
	}
	return " or later, because of what is not known: " + strings.Join(what, "; ")
}

// checkOverlap returns an error unless the cost of an hour of overlap is above 0 and
// finite.
func checkOverlap(flag string, cost float64) error {
	if !(cost > 0) || math.IsInf(cost, 1) {
		return cli.Usagef("--%s: %v, want a number above 0", flag, cost)
	}
	return nil
}

// showHandover prints a handover for people.
func showHandover(p *cli.Page, h *forecast.Handover) {
	t := p.Table("starts within", "chance")
	for _, s := range h.Curve {
		t.Add(lasting(s.Seconds/3600), cli.Share(s.Chance))
	}
	p.Line("submit a successor %v before its predecessor ends, if an hour of overlap costs %s h of interruption", lasting(h.LeadHours), cli.Text(h.OverlapCost))
}

// wait returns a time in hours for a sentence, in a suitable unit.
func wait(hours uncertainty.Prediction) cli.Quantity { return cli.Seconds(hours.Times(3600)) }

// lasting returns a wait without an interval.
func lasting(hours float64) cli.Quantity { return wait(uncertainty.Point(hours)) }

// wide reports whether an interval in hours is wider than a day and needs a note.
func wide(p uncertainty.Prediction) bool { return p.IsBounded() && p.Width() > 24 }
