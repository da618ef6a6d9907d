package forecast

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/mirage/internal/slurm"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Live answers a question from a view of a live Slurm, with an interval at the level,
// which correct may change.
func Live(v *slurm.View, q Question, level float64, correct func(uncertainty.Prediction) uncertainty.Prediction) (*Answer, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	job := q.Job()
	waits, err := v.Waits(job, 1)
	if err != nil {
		return nil, questionErrorf("this job can never start: %w", err)
	}
	p := correct(slurm.Expect(waits, level))
	p.Low = max(p.Low, 0)
	a := &Answer{At: Local(v.Now), Wait: p.Times(1. / 3600), Start: Local(v.Now + int64(p.Value)), Alternatives: []Alternative{}}
	if q.Overlap > 0 {
		a.Handover = handover(drawn(waits), q.Overlap)
	}
	if v.Private { // other users' jobs are hidden
		a.Notes = []string{slurm.ErrPrivate.Error()}
	}
	if p.Width() > 86400 {
		a.Notes = append(a.Notes, fmt.Sprintf("the interval is wider than a day: %s are pending, and all run times are sampled from those of recent jobs", plural.Count(v.Pending, "job")))
	}
	if p.Value >= 60 { // else nothing can start a minute earlier
		err = a.compare(cheaper(job), func(j trace.Job) (uncertainty.Prediction, error) {
			waits, err := v.Waits(j, 4)
			if err != nil { // this shape can never start
				return uncertainty.Prediction{Value: math.Inf(1)}, nil
			}
			return slurm.Expect(waits, level).Times(1. / 3600), nil
		})
		if err != nil {
			return nil, err
		}
	}
	return a, a.setChance(q.By, time.Local, v.Now, func(seconds float64) (float64, bool) {
		n, _ := slices.BinarySearch(waits, seconds+0.5)
		return float64(n) / float64(len(waits)), true
	})
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
