package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/slurm"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// live holds the resources that a job takes on the nodes of a live Slurm.
type live struct {
	cpus, gpus int
	memory     int64
	exclusive  bool
}

// given reports whether a resource was given.
func (l *live) given() bool { return *l != live{} }

// need returns the resources of a job on its nodes; nil means whole nodes.
func (l *live) need(nodes int) *trace.Need {
	if l.exclusive || l.cpus == 0 && l.gpus == 0 && l.memory == 0 {
		return nil
	}
	return &trace.Need{CPUs: cmp.Or(l.cpus, nodes), GPUs: l.gpus, MemoryMB: l.memory}
}

// look returns a snapshot of the live Slurm.
func (w *when) look(ctx context.Context, client *slurm.Client) (*slurm.View, error) {
	if !(w.level > 0 && w.level < 1) {
		return nil, cli.Usagef("--level %g: want a number between 0 and 1", w.level)
	}
	if err := w.in.load(); err != nil {
		return nil, err
	}
	var rules *cluster.Rules
	if w.in.source.Given("scheduler") {
		rules = &w.in.Rules
	}
	return client.Look(ctx, time.Now(), rules)
}

// job returns the job of a question to a live Slurm.
func (q question) job() trace.Job {
	return trace.Job{User: q.user, Partition: q.partition, Nodes: q.nodes, Limit: int64(q.limit), Need: q.takes.need(q.nodes)}
}

// predict predicts the wait of a job, and of cheaper shapes of it, from a snapshot.
func (w *when) predict(v *slurm.View, q question) (*answered, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	job := q.job()
	waits, err := v.Waits(job, 1)
	if err != nil {
		return nil, cli.Usagef("this job can never start: %w", err)
	}
	p := w.corrected(slurm.Expect(waits, w.level))
	a := &answered{At: local(v.Now), Wait: p.Times(1. / 3600), Start: local(v.Now + int64(p.Value)), Alternatives: []alternative{}}
	if q.overlap > 0 {
		a.Handover = handoverAt(drawn(waits), q.overlap)
	}
	if v.Private { // other users' jobs are hidden
		a.Notes = []string{slurm.ErrPrivate.Error()}
	}
	if p.Width() > 86400 {
		a.Notes = append(a.Notes, fmt.Sprintf("the interval is wider than a day: %s are pending, and all run times are sampled from those of recent jobs", counted(v.Pending, "job")))
	}
	if p.Value >= 60 { // else nothing can start a minute earlier
		err = a.compare(cheaper(job), func(j trace.Job) (uncertainty.Prediction, error) {
			waits, err := v.Waits(j, 4)
			if err != nil { // this shape can never start
				return uncertainty.Prediction{Value: math.Inf(1)}, nil
			}
			return slurm.Expect(waits, w.level).Times(1. / 3600), nil
		})
		if err != nil {
			return nil, err
		}
	}
	return a, a.byThen(q.by, time.Local, v.Now, func(seconds float64) (float64, bool) {
		n, _ := slices.BinarySearch(waits, seconds+0.5)
		return float64(n) / float64(len(waits)), true
	})
}

// started is the question under which starts on a live Slurm are recorded.
const started = "start"

// corrected returns the interval, corrected by the coverage of earlier ones; no wait is
// below 0.
func (w *when) corrected(p uncertainty.Prediction) uncertainty.Prediction {
	p = w.record.Corrected(started, p)
	p.Low = max(p.Low, 0)
	return p
}

// shape is a job that asks for less.
type shape struct {
	name string
	job  trace.Job
}

// cheaper returns shapes with a half and a quarter of a job's limit, and of its nodes.
func cheaper(job trace.Job) (shapes []shape) {
	for _, part := range []int64{2, 4} {
		shorter, smaller := job, job
		if shorter.Limit /= part; job.Limit != trace.Unlimited {
			shapes = append(shapes, shape{fmt.Sprintf("a limit of %v", span(shorter.Limit)), shorter})
		}
		if smaller.Nodes /= int(part); smaller.Nodes > 0 {
			if n := job.Need; n != nil {
				smaller.Need = &trace.Need{CPUs: n.CPUs / int(part), GPUs: n.GPUs / int(part), MemoryMB: n.MemoryMB / part}
			}
			shapes = append(shapes, shape{counted(smaller.Nodes, "node"), smaller})
		}
	}
	return shapes
}

func local(unix int64) string { return time.Unix(unix, 0).Format(time.DateTime) }
