package slurm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Verdict is a decision, as the log of decisions holds it. Times that end in
// Seconds are the cluster's.
type Verdict struct {
	At        time.Time `json:"at"`
	Link      int       `json:"link"` // whose successor it is about
	Job       int64     `json:"job"`
	Remaining float64   `json:"remaining_seconds"`
	Submit    bool      `json:"submit"`
	Why       string    `json:"why"` // first, policy, wait, end of predecessor, stop
	// ExpectedHours is the reward the policy expects of submitting now, in
	// policy time; absent where it expects nothing.
	ExpectedHours *float64 `json:"expected_hours,omitempty"`
	// Expected is the same, in hours, with its interval.
	Expected *uncertainty.Prediction `json:"expected,omitempty"`
	// ChanceBy is the probability that a successor submitted now starts within some seconds, if
	// the policy knows it, and HandoverAt the submission time that follows: the predecessor's
	// end less the planned wait.
	ChanceBy   []backtest.Start `json:"chance_by,omitempty"`
	HandoverAt *time.Time       `json:"handover_at,omitempty"`
	Features   []float64        `json:"features,omitempty"` // the last snapshot: samples.Columns
	MeanWait   float64          `json:"mean_wait_seconds"`  // of the last hundred, in policy time
	DryRun     bool             `json:"dry_run,omitempty"`
}

// advance submits what is due and says whether the chain is complete.
func (p *Provisioner) advance(ctx context.Context) (done bool, err error) {
	last := p.ledger.Last()
	if last == nil {
		return false, p.submit(ctx, Verdict{Why: "first", Link: -1}, 0)
	}
	if last.Job == 0 {
		return false, nil // resolve has to look first
	}
	if p.s.Links > 0 && len(p.ledger.Links) >= p.s.Links {
		return !slices.ContainsFunc(p.ledger.Links, func(k Link) bool { return !k.Ended }), nil
	}
	now := p.s.Clock.Now()
	v := Verdict{Link: last.Number, Job: last.Job}
	switch {
	case last.Ended:
		v.Why = "end of predecessor"
	case !last.Started:
		return false, nil
	case !now.Before(p.end(last)):
		v.Why = "end of predecessor"
	case now.Before(p.decision):
		return false, nil
	default:
		valid, err := p.ask(&v, last, now)
		if err != nil {
			p.s.Warn(fmt.Errorf("link %d: %w", last.Number, err))
			v.Why = "wait: " + err.Error()
		}
		// The next one is a whole number of intervals after the start.
		next := now.Add(valid)
		p.decision = next.Add(p.s.Interval - next.Sub(time.Unix(last.Start, 0))%p.s.Interval)
	}
	if last.Started && !last.Ended {
		v.Remaining = p.end(last).Sub(now).Seconds()
	}
	if last.Ended && p.futile >= patience {
		return false, fmt.Errorf("link %d: %w", last.Number, ErrFailing)
	}
	if v.Submit = v.Submit || v.Why == "end of predecessor"; v.Submit {
		return p.s.DryRun, p.submit(ctx, v, last.Number+1)
	}
	p.log(v)
	return false, nil
}

// ask puts the question to the policy, and returns how long its answer is valid.
func (p *Provisioner) ask(v *Verdict, last *Link, now time.Time) (valid time.Duration, err error) {
	s := p.state(last, now)
	d, err := p.s.Policy.Decide(&s)
	if err != nil {
		return 0, err
	}
	if d.Next > s.Now {
		valid = time.Duration(float64(d.Next-s.Now) / p.s.Scale * float64(time.Second))
	}
	for _, c := range d.Curve {
		v.ChanceBy = append(v.ChanceBy, backtest.Start{Seconds: c.Seconds / p.s.Scale, Chance: c.Chance})
	}
	if d.Expects {
		lead := (d.Expected.Value*3600 + s.RemainingSeconds()) / p.s.Scale
		at := p.end(last).Add(-time.Duration(lead * float64(time.Second))).UTC()
		v.HandoverAt = &at
	}
	v.Submit, v.Why = d.Submit, "wait"
	if d.Submit {
		v.Why = "policy"
	}
	if d.Expects && d.Submit && p.s.Predict != nil && !p.s.DryRun {
		d.Expected = p.s.Predict(p.ledger.Token(last.Number+1), d.Expected)
	}
	if d.Expects {
		v.ExpectedHours, v.Expected = &d.Expected.Value, &d.Expected
		p.Metrics.update(func(m *Metrics) { m.expected = d.Expected.Value })
	}
	row := make([]float64, samples.Steps*samples.Features)
	s.History.Tensor(row)
	v.Features = row[(samples.Steps-1)*samples.Features:]
	v.MeanWait = s.MeanWait()
	return valid, nil
}

// log adds to the decisions. A full disk does not stop the chain.
func (p *Provisioner) log(v Verdict) {
	v.At, v.DryRun = p.s.Clock.Now().UTC(), p.s.DryRun
	p.Metrics.add(&p.Metrics.decisions)
	if err := p.decisions.AppendJSON(v); err != nil {
		p.s.Warn(fmt.Errorf("a decision is not recorded: %w", err))
	}
}
