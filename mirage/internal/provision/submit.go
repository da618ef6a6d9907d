package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/file"
)

// submit submits a link that was never submitted before.
func (p *Provisioner) submit(ctx context.Context, v Verdict, link int) error {
	v.Submit = true
	p.log(v)
	if p.s.DryRun {
		return nil
	}
	return p.try(ctx, link)
}

// try runs sbatch for a link, once. The intent is written to the disk before, and sbatch
// inherits the lock: the next process in this directory finds the intent and waits for the
// lock.
func (p *Provisioner) try(ctx context.Context, link int) error {
	held, err := lock(ctx, p.s.Clock, p.submitLock())
	if errors.Is(err, file.ErrNoLocks) {
		p.s.Warn(err)
	} else if err != nil {
		return err
	}
	defer held.Close()
	if err := p.append(Entry{Kind: Intent, Link: link}); err != nil {
		return err
	}
	p.Metrics.submissions.Inc()
	r := p.s.Request
	r.Comment = p.ledger.Token(link)
	r.Name = p.name(link)
	if link > 0 && !p.ledger.Links[link-1].Ended {
		before := &p.ledger.Links[link-1]
		switch {
		case p.s.NoOverlap:
			r.After = before.Job
		case p.submitsAhead():
			r.Begin = p.end(before).Sub(p.s.Clock.Now())
		}
	}
	// A stop must not cut a submission short.
	id, err := submitJob(context.WithoutCancel(ctx), p.s.Client, r, held)
	if errors.Is(err, ErrLimited) || errors.Is(err, ErrRefused) {
		return p.recordRefusal(link, err)
	}
	if err != nil {
		p.quiet = time.Time{} // what sbatch started may still be at work
		return fmt.Errorf("link %d: %w", link, err)
	}
	return p.append(Entry{Kind: Accepted, Link: link, Job: id})
}

// recordRefusal records that there is no job, and returns nil if the link is to be submitted
// again: after a refusal for now, until the service before it is about to end.
func (p *Provisioner) recordRefusal(link int, cause error) error {
	if err := p.append(Entry{Kind: Refused, Link: link, Reason: cause.Error()}); err != nil {
		return err
	}
	p.Metrics.refusals.Inc()
	cause = fmt.Errorf("link %d: %w", link, cause)
	last := p.latestRetry(link)
	switch {
	case !errors.Is(cause, ErrLimited):
		return cause
	case link == 0: // somebody is there to read it
		return fmt.Errorf("%w: %w", ErrRefused, cause)
	case p.s.Clock.Now().After(last):
		return fmt.Errorf("%w: %w; it was tried again until %s, shortly before the running service ends", ErrRefused, cause, last.Format(time.RFC3339))
	}
	p.doubt(fmt.Errorf("%w; it is tried again until %s", cause, last.Format(time.RFC3339)))
	return nil
}

// latestRetry returns until when a refused link is submitted again: a tenth of the service's
// time, or ten minutes if that is less, before the service before it ends. A refusal
// that comes later is tried again for as long from then on.
func (p *Provisioner) latestRetry(link int) time.Time {
	margin := min(p.s.Service/10, 10*time.Minute)
	last := p.ledger.Links[link].Refused.Add(margin)
	if link > 0 && p.ledger.Links[link-1].Started {
		if end := p.end(&p.ledger.Links[link-1]).Add(-margin); end.After(last) {
			return end
		}
		return p.ledger.Links[link].Refused.Add(min(p.s.Service, firstAnswer))
	}
	return last
}

func (p *Provisioner) submitLock() string { return filepath.Join(p.dir, "submit.lock") }

// name returns the job name of a link, which the accounting keeps where it does
// not keep comments.
func (p *Provisioner) name(link int) string {
	name := cmp.Or(p.s.Request.Name, "service")
	return fmt.Sprintf("%s-%s-%d", name, p.ledger.Chain, link)
}

// resolve finds out what became of a submission of unknown end,
// and submits again only when it is certain that there is no job.
func (p *Provisioner) resolve(ctx context.Context, link int) error {
	if id := p.s.Resolve; id != 0 { // what a person has found out
		p.s.Resolve = 0
		if id > 0 {
			return p.append(Entry{Kind: Accepted, Link: link, Job: id, Reason: "given"})
		}
		return p.try(ctx, link)
	}
	if p.quiet.IsZero() {
		// An sbatch of an earlier process, or what is left of one that took
		// too long, holds the lock until it is through.
		held, err := lock(ctx, p.s.Clock, p.submitLock())
		if err != nil {
			return err
		}
		p.quiet = p.s.Clock.Now()
		held.Close()
	}
	settled := p.s.Clock.Now().Sub(p.quiet) >= p.s.RequestTimeout
	jobs, err := p.s.Client.Queue(ctx)
	if err != nil {
		return err
	}
	if found := p.selectUnused(jobs, func(j slurmview.Job) bool { return j.Comment == p.ledger.Token(link) }); len(found) > 0 {
		return p.adopt(ctx, link, found)
	}
	if !settled {
		return nil
	}
	// The controller keeps a job for at least MinJobAge after its end: for so
	// long after the intent, it would have listed one.
	k := p.ledger.Links[link]
	if age := p.s.Clock.Now().Sub(k.Intent); p.k.MinJobAge > 0 && age >= p.k.MinJobAge {
		if !p.k.Accounting {
			return fmt.Errorf("link %d, submitted at %s: %w: the controller forgets jobs after %v and there is no accounting; look for the job and give --resolve",
				link, k.Intent.Format(time.RFC3339), ErrUnsure, p.k.MinJobAge)
		}
		found, err := findAccounted(ctx, p.s.Client, p.name(link), p.ledger.Begun.Unix()-86400)
		if err != nil {
			return err
		}
		if found = p.selectUnused(found, func(j slurmview.Job) bool { return j.Comment == p.ledger.Token(link) || j.Name == p.name(link) }); len(found) > 0 {
			return p.adopt(ctx, link, found)
		}
	}
	return p.try(ctx, link)
}

// selectUnused keeps the jobs of a link that it has not had and given up, lowest id first.
func (p *Provisioner) selectUnused(jobs []slurmview.Job, own func(slurmview.Job) bool) []slurmview.Job {
	jobs = slices.DeleteFunc(jobs, func(j slurmview.Job) bool { return !own(j) || p.ledger.isUsed(j.ID) })
	slices.SortFunc(jobs, func(a, b slurmview.Job) int { return int(a.ID - b.ID) })
	return jobs
}

// adopt assigns the first job found to its link. There is never a second one while the
// assumptions in DESIGN.md hold; if there is, it is cancelled and reported.
func (p *Provisioner) adopt(ctx context.Context, link int, found []slurmview.Job) error {
	var errs []error
	for _, extra := range found[1:] {
		p.Metrics.doubles.Inc()
		p.s.Warn(fmt.Errorf("link %d: jobs %d and %d: %w", link, found[0].ID, extra.ID, ErrDouble))
		if !extra.State.Over() {
			errs = append(errs, cancelJob(ctx, p.s.Client, extra.ID))
		}
	}
	return errors.Join(p.append(Entry{Kind: Accepted, Link: link, Job: found[0].ID, Reason: "found by its token"}), errors.Join(errs...))
}
