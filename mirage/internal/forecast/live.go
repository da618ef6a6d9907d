package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Live answers a question from a view of a live Slurm, with an interval at the level,
// which correct may change. The error is a QuestionError if the job can never start, and
// wraps slurmview.ErrNoStart if its start cannot be predicted.
func Live(v *slurmview.View, q Question, level float64, correct func(uncertainty.Prediction) uncertainty.Prediction) (*Answer, error) {
	asked := q.Ask()
	var notes []string
	if q.Queued != "" {
		job, j, rest, err := v.Queued(q.Queued)
		if errors.Is(err, slurmview.ErrNoJob) {
			return nil, questionErrorf("--job: %w", err)
		}
		if err != nil {
			return nil, err
		}
		asked, v = job, rest
		notes = queuedNotes(j)
		q.Nodes, q.Limit = max(job.Nodes, 1), max(job.Limit, 60)
	}
	if asked = v.Complete(asked); q.Batch != nil {
		q.Nodes, q.Limit, q.Resources = asked.Nodes, asked.Limit, Resources{}
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	unread := slices.Concat(q.Unread, v.Unread, v.FindUnknowns(asked))
	drawnWaits, err := v.AskWaits(asked)
	if errors.Is(err, slurmview.ErrNoStart) {
		return nil, err
	}
	if err != nil {
		return nil, questionErrorf("this job can never start: %w", err)
	}
	waits := drawnWaits.Sorted()
	p, boots := v.AddBoot(slurmview.Expect(waits, level), asked)
	p = correct(p)
	p.Low = max(p.Low, 0)
	if len(unread) > 0 {
		p.High = math.Inf(1)
	}
	a := &Answer{
		At: Local(v.Now), Wait: p.Times(1. / 3600), Start: Local(v.Now + int64(p.Value)), Asked: described(trace.Nodes, asked),
		Unread: unread, Parts: partsOf(drawnWaits.Typical()), Notes: append(notes, v.Notes...), Alternatives: []Alternative{},
	}
	if q.Overlap > 0 {
		a.Handover = handover(drawn(waits), q.Overlap)
	}
	if boots != "" {
		a.Notes = append(a.Notes, boots)
	}
	if v.Private { // other users' jobs are hidden
		a.Notes = append(a.Notes, slurmview.ErrPrivate.Error())
	}
	if p.Bounded() && p.Width() > 86400 {
		a.Notes = append(a.Notes, fmt.Sprintf("the interval is wider than a day: %s are pending, and all run times are sampled from those of recent jobs", plural.Count(v.Pending, "job")))
	}
	err = a.compare(secondsOf(drawnWaits), cheaper(asked.Job), func(s shape) ([]float64, error) {
		other := asked
		other.Job = s.job
		waits, err := v.AskWaits(other)
		if err != nil { // this shape can never start
			return nil, nil
		}
		return secondsOf(waits), nil
	})
	if err != nil {
		return nil, err
	}
	return a, a.setChance(q.By, time.Local, v.Now, func(seconds float64) (float64, bool) {
		n, _ := slices.BinarySearch(waits, seconds+0.5)
		return float64(n) / float64(len(waits)), true
	})
}

// queuedNotes returns Slurm's own words about a job that waits.
func queuedNotes(j *slurmview.Job) (notes []string) {
	if j.Reason != "" && j.Reason != "None" {
		notes = append(notes, "squeue's reason: "+j.Reason)
	}
	if j.Start > 0 {
		notes = append(notes, "squeue --start predicts "+Local(j.Start))
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

func secondsOf(waits slurmview.Waits) []float64 {
	seconds := make([]float64, len(waits))
	for i, w := range waits {
		seconds[i] = float64(w.Seconds)
	}
	return seconds
}

// drawn returns the answer for sampled waits in seconds.
func drawn(waits stats.Sorted) backtest.Answer {
	a := backtest.Answer{Prediction: uncertainty.Point(waits.Median())}
	for _, chance := range backtest.Chances() {
		a.Starts = append(a.Starts, backtest.Start{Seconds: waits.Quantile(chance), Chance: chance})
	}
	return a
}

// Local returns a time in this machine's time zone.
func Local(unix int64) string { return time.Unix(unix, 0).Format(time.DateTime) }
