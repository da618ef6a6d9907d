package provision

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/slurmview"
)

// follow brings the links up to date with the queue.
func (p *Provisioner) follow(ctx context.Context, jobs []slurmview.Job) error {
	p.begin = 0
	for i := range p.ledger.Links {
		k := &p.ledger.Links[i]
		if k.Job == 0 {
			continue
		}
		at := slices.IndexFunc(jobs, func(j slurmview.Job) bool { return j.ID == k.Job })
		if k.Ended && (at < 0 || !isBack(&jobs[at])) {
			continue
		}
		if at < 0 {
			if err := p.gone(k); err != nil {
				return err
			}
			continue
		}
		delete(p.missing, k.Job)
		if err := p.note(ctx, k, &jobs[at]); err != nil {
			return err
		}
	}
	if err := p.handleExtra(ctx); err != nil {
		return err
	}
	return p.release(ctx)
}

// isBack reports whether a job that had ended waits or runs again.
func isBack(j *slurmview.Job) bool {
	return j.State.Pending() || j.State.Running() && j.State != "COMPLETING"
}

// handleExtra warns of requeued jobs whose successor has started, and cancels those that
// this chain has submitted if two services must not overlap.
func (p *Provisioner) handleExtra(ctx context.Context) error {
	for _, k := range p.ledger.Extra() {
		said := fmt.Sprintf("job %d of link %d was requeued after job %d had taken over: two services run at once", k.Job, k.Number, p.ledger.Links[k.Number+1].Job)
		if !p.s.NoOverlap || k.Intent.IsZero() || p.s.DryRun {
			p.doubt(fmt.Errorf("%s unless you end it by scancel %d", said, k.Job))
			continue
		}
		p.doubt(fmt.Errorf("%s, so it is cancelled (--no-overlap)", said))
		if err := cancelJob(ctx, p.s.Client, k.Job); err != nil {
			return err
		}
	}
	return nil
}

// patience is the number of jobs in a row that may fail.
const patience = 5

// note records what is new about the job of a link.
func (p *Provisioner) note(ctx context.Context, k *Link, j *slurmview.Job) error {
	if k.Ended || k.Started && (j.State.Pending() || j.HasStarted() && j.Start > k.Start) { // the same job, once more
		p.s.Warn(fmt.Errorf("job %d of link %d was requeued", j.ID, k.Number))
		if err := p.append(Entry{Kind: Requeued, Link: k.Number, Job: j.ID}); err != nil {
			return err
		}
	}
	if j.HasStarted() && !k.Started {
		if err := p.append(Entry{Kind: Started, Link: k.Number, Job: j.ID, Start: j.Start}); err != nil {
			return err
		}
		p.decision = time.Time{} // the first one is due at the start
		if p.s.Outcome != nil && k.Number > 0 && k.Gone == 0 {
			late := float64(j.Start) - seconds(p.end(&p.ledger.Links[k.Number-1]))
			p.s.Outcome(p.ledger.Token(k.Number), late/3600)
		}
	}
	if err := p.stuck(k, j); err != nil {
		return err
	}
	switch {
	case p.s.KeepPlace && j.State.Pending() && k.Number > 0 && k.Gone == 0 && j.Eligible > p.s.Clock.Now().Unix():
		p.begin = j.Eligible
		return nil
	case !j.State.Over():
		return nil
	case k.Started || k.Gone != 0:
		p.futile, p.failed = p.futile+1, j.ID
		handedOver := p.ledger.Last() != k && !p.submitsAhead()
		if float64(j.End-k.Start) >= p.s.Service.Seconds()/10 || handedOver {
			p.futile = 0
		}
		err := p.append(Entry{Kind: Ended, Link: k.Number, Job: j.ID, End: j.End, Reason: string(j.State)})
		if err == nil && p.isScriptAtFault(k, j) {
			return p.giveUp(ctx, j.ID, ErrScript)
		}
		return err
	default:
		p.futile, p.failed = p.futile+1, j.ID
		p.s.Warn(fmt.Errorf("job %d of link %d ended before it started: %s", j.ID, k.Number, j.State))
		return p.append(Entry{Kind: Void, Link: k.Number, Job: j.ID, Reason: string(j.State)})
	}
}

// isScriptAtFault reports whether a job of a chain in which no service has run for a tenth of
// its time has exited with an error soon after its start.
func (p *Provisioner) isScriptAtFault(k *Link, j *slurmview.Job) bool {
	enough := int64(p.s.Service.Seconds() / 10)
	soon := min(enough, int64(firstAnswer.Seconds()))
	return j.State == "FAILED" && !k.Intent.IsZero() && k.Gone == 0 && j.End-k.Start < soon &&
		!slices.ContainsFunc(p.ledger.Links, func(o Link) bool {
			return o.Number != k.Number && o.First != 0 && (o.End == 0 || o.End-o.First >= enough)
		})
}

// giveUp cancels the successor that is queued, which would fail likewise, and returns an error
// about the job that failed.
func (p *Provisioner) giveUp(ctx context.Context, job int64, cause error) error {
	if last := p.ledger.Last(); last.Job != 0 && !last.Started && !last.Ended && last.Gone == 0 && !last.Intent.IsZero() {
		p.s.Warn(fmt.Errorf("job %d of link %d is cancelled: it would fail like job %d", last.Job, last.Number, job))
		if err := p.cancelPending(ctx, last); err != nil {
			p.s.Warn(err)
		}
	}
	return fmt.Errorf("%w: job %d ended%s", cause, job, describeEnd(ctx, p.s.Client, job))
}

// cancelPending cancels the job of a link unless it has started, and records that.
func (p *Provisioner) cancelPending(ctx context.Context, k *Link) error {
	if _, err := p.s.Client.Runner.Run(ctx, []string{"scancel", "--state=PENDING", fmt.Sprint(k.Job)}, nil); err != nil {
		return err
	}
	jobs, err := p.s.Client.Queue(ctx)
	at := slices.IndexFunc(jobs, func(j slurmview.Job) bool { return j.ID == k.Job && j.State.Over() && !j.HasStarted() })
	if err != nil || at < 0 {
		return err
	}
	return p.append(Entry{Kind: Void, Link: k.Number, Job: k.Job, Reason: string(jobs[at].State)})
}

// gone deals with a job that the controller does not list: for as long as a
// request may be under way that may be the controller coming back; then the
// job is taken to have ended at an unknown time.
func (p *Provisioner) gone(k *Link) error {
	now := p.s.Clock.Now()
	since, ok := p.missing[k.Job]
	if !ok {
		p.missing[k.Job] = now
		since = now
	}
	if now.Sub(since) < p.s.RequestTimeout {
		return nil
	}
	p.s.Warn(fmt.Errorf("job %d of link %d: no longer known to the controller", k.Job, k.Number))
	return p.append(Entry{Kind: Ended, Link: k.Number, Job: k.Job, Reason: "unknown to the controller"})
}

// release cancels predecessors whose successor runs, if that is wanted.
func (p *Provisioner) release(ctx context.Context) error {
	if !p.s.Release || p.s.DryRun {
		return nil
	}
	for i := 1; i < len(p.ledger.Links); i++ {
		before, k := &p.ledger.Links[i-1], &p.ledger.Links[i]
		if k.Started && !k.Ended && before.Job != 0 && !before.Ended {
			if err := cancelJob(ctx, p.s.Client, before.Job); err != nil {
				return err
			}
		}
	}
	return nil
}
