package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Expected holds the waits of a job on a live Slurm, in drawn futures and as a prediction in
// seconds, and what is not known about them: then the prediction has no upper end.
type Expected struct {
	Waits  slurmview.Waits
	Wait   uncertainty.Prediction
	Unread []string
	Note   string // about nodes that are powered down
}

// Expect predicts the wait of a job, with an interval of a level. Answers, and the predictions
// by which later answers are corrected, are made by it. The error wraps slurmview.ErrNoStart,
// slurmview.ErrNotAdmitted or cluster.ErrOversize.
func Expect(v *slurmview.View, job slurmview.Ask, level float64) (e Expected, err error) {
	if e.Waits, err = v.AskWaits(job); err != nil {
		return e, err
	}
	e.Unread = slices.Concat(v.Unread, v.FindUnknowns(job), v.FindContradiction(job, e.Waits))
	e.Wait, e.Note = v.AddBoot(slurmview.Expect(e.Waits.SortSeconds(), level), job)
	return e, nil
}

// Live answers a question from a view of a live Slurm, with an interval at the level,
// which correct may change. The error is a QuestionError if the job can never start, and
// wraps slurmview.ErrNoStart if its start cannot be predicted.
func Live(v *slurmview.View, q Question, level float64, correct func(uncertainty.Prediction) uncertainty.Prediction) (*Answer, error) {
	if q.Batch == nil && q.Queued == "" && q.Limit != NoLimit {
		if err := q.check(); err != nil {
			return nil, err
		}
	}
	asked := q.Ask()
	var notes []string
	var submitted trace.Instant
	if q.Queued != "" {
		job, j, rest, err := v.FindQueued(q.Queued)
		if j != nil && j.State.Running() {
			return &Answer{At: Local(v.Now), Start: Local(j.Start), Started: true, Wait: uncertainty.Prediction{Level: level}, Asked: describeJob(trace.Nodes, j.Ask()), Alternatives: []Alternative{}}, nil
		}
		if errors.Is(err, slurmview.ErrNoJob) {
			return nil, questionErrorf("--job: %w", err)
		}
		if err != nil {
			return nil, err
		}
		asked, v = job, rest
		notes, submitted = queuedNotes(j), Local(j.Submit)
	}
	asked = v.Complete(asked)
	q.Nodes, q.Limit = asked.Nodes, asked.Limit
	if q.Queued != "" {
		q.Limit = max(q.Limit, shortestLimit)
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	expected, err := Expect(v, asked, level)
	if errors.Is(err, slurmview.ErrNoStart) {
		return nil, err
	}
	if err != nil {
		return nil, questionErrorf("this job can never start: %w", err)
	}
	d := wait.FromSamples(level, expected.Waits.SortSeconds()).StretchTo(correct(expected.Wait))
	a := newAnswer(d, v.Now, Local)
	a.Asked, a.Job = describeJob(trace.Nodes, asked), asked.Job
	a.Notes, a.Submitted = append(notes, v.Notes...), submitted
	a.Unread, a.Parts = slices.Concat(q.Unread, expected.Unread), partsOf(expected.Waits.Typical())
	if len(a.Unread) > 0 {
		a.Wait.High = math.Inf(1)
	}
	if expected.Note != "" {
		a.Notes = append(a.Notes, expected.Note)
	}
	if v.Private { // other users' jobs are hidden
		a.Notes = append(a.Notes, slurmview.ErrPrivate.Error())
	}
	if a.Wait.IsBounded() && a.Wait.Width() > 24 {
		a.Notes = append(a.Notes, fmt.Sprintf("the interval is wider than a day: %s are pending, and all run times are sampled from those of recent jobs", plural.Count(v.Pending, "job")))
	}
	err = a.compare(expected.Waits.Seconds(), cheaper(asked.Job), func(s shape) ([]float64, error) {
		other := asked
		other.Job = s.job
		waits, err := v.AskWaits(other)
		if err != nil { // this shape can never start
			return nil, nil
		}
		return waits.Seconds(), nil
	})
	if err != nil {
		return nil, err
	}
	return a, a.addQuantiles(q, d, time.Local, v.Now)
}

// queuedNotes returns Slurm's own words about a job that waits.
func queuedNotes(j *slurmview.Job) (notes []string) {
	if j.Reason != "" && j.Reason != "None" {
		notes = append(notes, "squeue's reason: "+j.Reason)
	}
	if j.Start > 0 {
		notes = append(notes, "squeue --start predicts "+Local(j.Start).String())
	}
	return notes
}

// partsOf returns the parts of a wait; nil if it is for room alone.
func partsOf(w simulator.Wait) *Parts {
	hours := func(seconds int64) float64 { return float64(seconds) / 3600 }
	if w.Room() == w.Seconds {
		return nil
	}
	return &Parts{hours(w.Eligible), hours(w.Dependency), hours(w.Limits), hours(w.Room())}
}

// Local returns a time in this machine's time zone.
func Local(unix int64) trace.Instant { return trace.Instant{Time: time.Unix(unix, 0)} }
