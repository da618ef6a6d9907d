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
		if k.Job == 0 || k.Ended {
			continue
		}
		at := slices.IndexFunc(jobs, func(j slurmview.Job) bool { return j.ID == k.Job })
		if at < 0 {
			if err := p.gone(k); err != nil {
				return err
			}
			continue
		}
		delete(p.missing, k.Job)
		if err := p.note(k, &jobs[at]); err != nil {
			return err
		}
	}
	return p.release(ctx)
}

// patience is the number of jobs in a row that may fail.
const patience = 5

// note records what is new about the job of a link.
func (p *Provisioner) note(k *Link, j *slurmview.Job) error {
	if k.Started && (j.State.Pending() || j.HasStarted() && j.Start > k.Start) { // the same job, once more
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
		p.futile++
		handedOver := p.ledger.Last() != k && !p.submitsAhead()
		if float64(j.End-k.Start) >= p.s.Service.Seconds()/10 || handedOver {
			p.futile = 0
		}
		return p.append(Entry{Kind: Ended, Link: k.Number, Job: j.ID, End: j.End, Reason: string(j.State)})
	default:
		p.futile++
		p.s.Warn(fmt.Errorf("job %d of link %d ended before it started: %s", j.ID, k.Number, j.State))
		return p.append(Entry{Kind: Void, Link: k.Number, Job: j.ID, Reason: string(j.State)})
	}
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
