package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Values of Verdict.Why; whyWait may be followed by an error.
const (
	whyFirst  = "first"
	whyPolicy = "policy"
	whyWait   = "wait"
	whyEnd    = "end of predecessor"
	whyStop   = "stop"
	whyNext   = "starts after its predecessor"
	whyPlace  = "keeps its place in the queue"
)

// Verdict is an entry in the log of decisions.
type Verdict struct {
	At        time.Time `json:"at"`
	Link      int       `json:"link"` // the predecessor; -1 for the first service
	Job       int64     `json:"job"`
	Remaining float64   `json:"remaining_seconds"`
	Submit    bool      `json:"submit"`
	Why       string    `json:"why"` // one of the constants above
	// Expected is the reward in hours that the policy expects of submitting now; absent if it
	// predicts none.
	Expected *uncertainty.Prediction `json:"expected,omitempty"`
	// ChanceBy is the probability that a successor submitted now starts within some seconds, if
	// the policy knows it, and HandoverAt the submission time that follows: the predecessor's
	// end less the planned wait.
	ChanceBy   []wait.Start `json:"chance_by,omitempty"`
	HandoverAt *time.Time   `json:"handover_at,omitempty"`
	Features   []float64    `json:"features,omitempty"` // samples.SummaryColumns
	MeanWait   float64      `json:"mean_wait_seconds"`  // of the last hundred jobs
	DryRun     bool         `json:"dry_run,omitempty"`
}

// advance submits a successor if one is due, and reports whether the chain is complete.
func (p *Provisioner) advance(ctx context.Context) (done bool, err error) {
	last := p.ledger.Last()
	if last == nil {
		return false, p.submit(ctx, Verdict{Why: whyFirst, Link: -1}, 0)
	}
	if last.Job == 0 {
		return false, nil // the outcome of its submission is unknown: resolve comes first
	}
	if p.s.Links > 0 && len(p.ledger.Links) >= p.s.Links && p.begin == 0 {
		return !slices.ContainsFunc(p.ledger.Links, func(k Link) bool { return !k.Ended }), nil
	}
	last = p.current()
	now := p.s.Clock.Now()
	v := Verdict{Link: last.Number, Job: last.Job}
	switch {
	case p.futile >= patience && (last.Ended || last.Started && p.submitsAhead()):
		return false, p.giveUp(ctx, p.failed, ErrFailing)
	case last.Ended:
		v.Why = whyEnd
	case !last.Started:
		return false, nil
	case p.s.NoOverlap:
		v.Submit, v.Why = true, whyNext
	case p.submitsAhead() && p.begin == 0:
		v.Submit, v.Why = true, whyPlace
	case p.begin != 0 && !p.fixed && p.end(last).Unix() > p.begin+maxEarlySeconds: // it was requeued
		return false, p.moveBegin(ctx, p.end(last).Sub(now))
	case !now.Before(p.end(last)):
		v.Why = whyEnd
	case now.Before(p.decision):
		return false, nil
	default:
		valid, err := p.decide(&v, last, now)
		if err != nil {
			p.s.Warn(fmt.Errorf("link %d: %w", last.Number, err))
			v.Why = whyWait + ": " + err.Error()
		}
		// The next decision is a whole number of intervals after the start.
		next := now.Add(valid)
		p.decision = next.Add(p.s.Interval - next.Sub(time.Unix(last.Start, 0))%p.s.Interval)
	}
	if last.Started && !last.Ended {
		v.Remaining = p.end(last).Sub(now).Seconds()
	}
	if v.Submit = v.Submit || v.Why == whyEnd; !v.Submit {
		p.log(v)
		return false, nil
	}
	if p.begin != 0 {
		p.log(v)
		err = p.moveBegin(ctx, 0)
	} else {
		err = p.submit(ctx, v, last.Number+1)
	}
	p.lag = p.s.Clock.Now().Sub(now)
	return p.s.DryRun, err
}

// moveBegin lets the successor that waits for its begin start after a time. If the site does
// not let users change a begin, one that is due is submitted again, and each later one is
// submitted when the policy says so.
func (p *Provisioner) moveBegin(ctx context.Context, after time.Duration) error {
	last := p.ledger.Last()
	err := setBegin(ctx, p.s.Client, last.Job, after)
	if !errors.Is(err, ErrRefused) {
		return err
	}
	p.doubt(fmt.Errorf("%w: a successor that is due is cancelled and submitted again, and later ones are submitted when they are due", err))
	p.fixed = true
	if after > 0 {
		return nil
	}
	if err := p.cancelPending(ctx, last); err != nil || last.Job != 0 { // it has started by now
		return err
	}
	return p.try(ctx, last.Number)
}

// maxEarlySeconds is the time before its predecessor's end at which the begin of a successor
// stays as it is.
const maxEarlySeconds = 60

// submitsAhead reports whether each successor is submitted when its predecessor starts.
func (p *Provisioner) submitsAhead() bool {
	return p.s.NoOverlap || p.s.KeepPlace && !p.fixed && !p.s.DryRun && p.k.DependentsAge()
}

// current returns the link whose successor is next to start: the latest one, or the one before
// it while the latest one's job waits for its begin.
func (p *Provisioner) current() *Link {
	last := p.ledger.Last()
	if p.begin != 0 {
		return &p.ledger.Links[last.Number-1]
	}
	return last
}

// decide calls the policy, stores its answer in v, and returns for how long the answer is valid.
func (p *Provisioner) decide(v *Verdict, last *Link, now time.Time) (valid time.Duration, err error) {
	s := p.state(last, now.Add(p.lag)) // when Slurm will have the successor
	d, err := p.s.Policy.Decide(&s)
	if err != nil {
		return 0, err
	}
	if d.Next > s.Now {
		valid = time.Duration(d.Next-s.Now) * time.Second
	}
	v.ChanceBy = d.Curve
	if d.Expects {
		lead := d.Expected.Value*3600 + s.RemainingSeconds()
		at := p.end(last).Add(-time.Duration(lead * float64(time.Second))).UTC()
		v.HandoverAt = &at
	}
	v.Submit, v.Why = d.Submit, whyWait
	if d.Submit {
		v.Why = whyPolicy
	}
	if d.Expects && d.Submit && p.s.Predict != nil && !p.s.DryRun {
		d.Expected = p.s.Predict(p.ledger.Token(last.Number+1), d.Expected)
	}
	if d.Expects {
		v.Expected = &d.Expected
	}
	v.Features = s.History.Summary()
	v.MeanWait = s.MeanWait()
	return valid, nil
}

// log appends a decision to the log. An error, such as a full disk, is only a warning: it must
// not stop the chain.
func (p *Provisioner) log(v Verdict) {
	v.At, v.DryRun = p.s.Clock.Now().UTC(), p.s.DryRun
	if err := p.decisions.AppendJSON(v); err != nil {
		p.s.Warn(fmt.Errorf("a decision is not recorded: %w", err))
	}
}
