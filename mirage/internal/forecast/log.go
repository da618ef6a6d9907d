package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/stats"
)

// Log is a log at a time, ready to answer.
type Log struct {
	t        *trace.Trace
	jobs     []trace.Job // of the log and its queue
	f        *wait.Forecaster
	at       int64
	size     int // of the cluster; 0 if unknown
	peak     int // largest number of nodes in use at once
	priority float64
	seen     *properties
	config   *simulator.Config // as the settings describe it; nil if they do not
	queues   map[string]*simulator.Simulator
}

// LogSettings returns the settings of a forecaster for a log's jobs from a time on, on a
// cluster of a size; 0 is unknown. They are the same for every command.
func LogSettings(jobs []trace.Job, size int, from int64) wait.Settings {
	return wait.Settings{Size: size, Partitioned: len(Partitions(jobs)) > 1, Seed: 1, From: from}
}

// NewLog fits a forecaster to the jobs of a log before a time, Unix seconds, or takes it
// from the cache, which may be nil.
// The cluster of the settings, if it is not nil, simulates the queue for other shapes.
func NewLog(ctx context.Context, t *trace.Trace, at int64, s wait.Settings, config *simulator.Config, cache *Cache) (*Log, error) {
	all := t.All()
	f, err := fitForecaster(ctx, all, at, s, cache)
	if errors.Is(err, wait.ErrSettings) {
		return nil, &QuestionError{err}
	}
	if err != nil {
		return nil, err
	}
	n, _ := slices.BinarySearchFunc(all, at, func(j trace.Job, at int64) int { return cmp.Compare(j.Submit, at) })
	return &Log{t, all, f, at, s.Size, t.PeakNodes(), trace.MedianPriority(all[:n]), propertiesOf(all[:n], at), config, map[string]*simulator.Simulator{}}, nil
}

// End returns the last submission in the log, in Unix seconds.
func (l *Log) End() int64 { return l.seen.last }

// Clock writes a time in the log's zone.
func (l *Log) Clock(unix int64) trace.Instant { return l.t.Clock(unix) }

// Answer answers a question.
func (l *Log) Answer(q Question) (*Answer, error) {
	var notes []string
	if q.Queued != "" {
		return nil, questionErrorf("--job: a job of the queue is only known on a live Slurm")
	}
	if b := q.Batch; b != nil {
		q.Nodes, q.Partition = b.Nodes, b.Partition
		q.Limit = cmp.Or(b.Limit, q.Limit)
		notes = append(notes, "of sbatch's options only nodes, time and partition count for a log")
	}
	if q.Limit == NoLimit {
		q.Limit = defaultLimit
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.Resources != (Resources{}) {
		return nil, questionErrorf("CPUs, GPUs, memory and exclusive nodes of a job are only used on a live Slurm; for a log, set the counted unit by log.unit")
	}
	if err := l.fits(q.Nodes); err != nil {
		return nil, err
	}
	partition, err := l.seen.partition(q.Partition)
	if err != nil {
		return nil, err
	}
	job := trace.Job{User: q.User, Partition: partition, Nodes: q.Nodes, Limit: q.Limit, Submit: l.at, Priority: l.priority}
	if l.seen.limit == 0 {
		job.Limit = trace.Unlimited
	}
	d, err := l.f.Ask(job)
	if err != nil {
		return nil, err
	}
	a := newAnswer(d, l.at, l.t.Clock)
	a.Job = job
	a.Asked, a.Notes = describeJob(l.t.Unit, slurmview.Ask{Job: job, Tasks: 1}), slices.Concat(notes, l.seen.notes(q, job), l.queueNotes())
	switch {
	case !d.Known():
		a.Notes = append(a.Notes, "too few jobs have started for an interval")
	case a.Wait.Width() > 24:
		a.Notes = append(a.Notes, wideNote(l.jobs, job, l.at))
	}
	if err := a.addQuantiles(q, d, l.t.Zone, l.at); err != nil {
		return nil, err
	}
	shapes := cheaper(job)
	for _, p := range l.seen.names() {
		if p != job.Partition {
			other := job
			other.Partition = p
			shapes = append(shapes, shape{"partition " + p, other})
		}
	}
	if !d.Known() { // too few jobs to know how others run
		return a, nil
	}
	return a, l.compare(a, job, shapes)
}

// fits returns an error for a job that is larger than the cluster, or, if its size is
// unknown, than the peak use.
func (l *Log) fits(nodes int) error {
	if l.size > 0 && nodes > l.size {
		return questionErrorf("job wants %d nodes, the cluster has %d: it can never start", nodes, l.size)
	}
	if l.size == 0 && nodes > l.peak {
		return questionErrorf("job wants %d nodes, the log has at most %d in use at once; set the size of a larger cluster by --set nodes=", nodes, l.peak)
	}
	return nil
}

// queueNotes returns a note if the log appears to lack the jobs that had not ended.
func (l *Log) queueNotes() []string {
	if s := l.seen; len(l.t.Open) == 0 && float64(s.used) < s.usual/2 {
		return []string{fmt.Sprintf("the log has no queue at %s: %d of the usual %.0f %s in use, and no pending or running job at its end; log all states with sacct", l.t.Clock(l.at), s.used, s.usual, l.t.Unit)}
	}
	return nil
}

// futures is the number of futures in which a log's queue is simulated: half of them without new
// arrivals, the others with those of one to four weeks before.
const futures = 20

// compare adds the shapes that would start earlier in the simulated queue, if that agrees
// with the answer.
func (l *Log) compare(a *Answer, job trace.Job, shapes []shape) error {
	if l.seen.limit == 0 || len(shapes) == 0 { // without limits nothing can be planned
		return nil
	}
	waits, err := l.waits(job)
	if err != nil || waits == nil {
		return err
	}
	if median := stats.Median(waits) / 3600; median < a.Wait.Low || median > a.Wait.High {
		return nil // the simulated queue is not the log's: its gains would not be, either
	}
	return a.compare(waits, shapes, func(s shape) ([]float64, error) { return l.waits(s.job) })
}

// waits returns the waits of a job in the simulated futures of its partition's queue,
// in seconds; nil if it can never start there.
func (l *Log) waits(job trace.Job) ([]float64, error) {
	sim, err := l.queue(job.Partition)
	if err != nil {
		return nil, err
	}
	lengths := sim.Lengths()
	job.End = job.Start + job.Limit
	waits, err := sim.Draw(job, futures, func(i int) simulator.Future {
		return simulator.Future{Length: lengths.Draw(i), Back: int64(i%2*(1+i/2%4)) * usualSeconds}
	})
	if errors.Is(err, cluster.ErrOversize) {
		return nil, nil
	}
	return slurmview.Waits(waits).Seconds(), err
}

// queue returns the queue of a partition at the time of the question, on the cluster
// that the settings describe, or else on one as large as the partition's largest use,
// with the user limit that its users seem to have.
func (l *Log) queue(partition string) (*simulator.Simulator, error) {
	if sim := l.queues[partition]; sim != nil {
		return sim, nil
	}
	st := simulator.Standing{Now: l.at, Repeats: true, Ended: make([]trace.Job, 0, len(l.jobs))}
	own := &trace.Trace{Jobs: make([]trace.Job, 0, len(l.jobs))}
	for _, j := range l.jobs {
		if j.Submit >= l.at || j.Partition != partition {
			continue
		}
		switch {
		case j.Start >= l.at:
			st.Pending = append(st.Pending, j)
			continue
		case j.End >= l.at:
			st.Running = append(st.Running, j)
			j.End = l.at
		case !j.NoStart:
			st.Ended = append(st.Ended, j)
		}
		own.Jobs = append(own.Jobs, j)
	}
	if len(own.Jobs) == 0 {
		return nil, nil
	}
	c := l.config
	if c == nil {
		r := cluster.Defaults(cluster.Slurm)
		r.LoggedPriority = slices.ContainsFunc(l.jobs, func(j trace.Job) bool { return j.Priority != 0 })
		if most, users := trace.PeakUserJobs(own.Jobs); users >= limitedUsers {
			r.UserLimit = most
		}
		c = &simulator.Config{Machine: cluster.Machine{Nodes: max(own.PeakNodes(), 1)}, Rules: r}
	}
	sim, err := c.Resume(st)
	l.queues[partition] = sim
	return sim, err
}

// limitedUsers is the number of users who must have run the same largest number of jobs at once
// for it to count as a limit.
const limitedUsers = 3
