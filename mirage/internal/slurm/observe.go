package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
)

// observe adds to the history.
func (p *Provisioner) observe(ctx context.Context, jobs []Job) error {
	now := p.s.Clock.Now()
	due := !now.Before(p.snapshot) || p.deciding(now)
	if p.s.Partition != "" {
		jobs = slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool { return !j.In(p.s.Partition) })
	}
	p.queue = jobs
	if p.s.Rules != nil {
		p.queue = counted(jobs, p.s.Rules.Unit)
	}
	unwritten := p.history.see(p.queue, now.Unix(), p.ledger.used)
	if due {
		unwritten = cmp.Or(unwritten, p.history.snapshot(p.queue, seconds(now)))
		p.snapshot = now.Add(samples.SnapshotSeconds * time.Second)
		if err := p.observeQueue(ctx); err != nil {
			p.s.Warn(err)
		}
		total, unavailable := 0, 0
		if p.hardware != nil {
			total, unavailable = p.hardware.count(p.s.Partition)
		}
		p.tooFew(total)
		p.Metrics.queue(jobs, total, unavailable)
	}
	if unwritten != nil { // a full disk does not stop the chain
		p.s.Warn(fmt.Errorf("the history of the queue is not recorded: %w", unwritten))
	}
	p.Metrics.lastPoll.Set(seconds(now))
	return nil
}

// accountingAge is the age at which what the accounting knows is read again.
const accountingAge = time.Hour

// observeQueue reads the state of the cluster from its controller, with its reservations, and on demand
// the recent run times of jobs. Without the accounting these come from the jobs that the
// controller remembers.
func (p *Provisioner) observeQueue(ctx context.Context) error {
	h, err := p.s.Client.Hardware(ctx, p.k)
	if err != nil {
		return err
	}
	now, v := p.s.Clock.Now(), &View{limits: newLimits()}
	p.s.Client.holds(ctx, v, h, p.k, now)
	for _, what := range v.Unread {
		p.doubt(fmt.Errorf("decisions ignore what could not be read: %s", what))
	}
	p.hardware = h
	p.announce(now)
	if p.k.priorities.unread != "" && p.s.Rules == nil {
		p.doubt(errors.New(p.k.priorities.unread))
	}
	if !p.s.Live || !p.k.Accounting || !p.accounted.IsZero() && now.Sub(p.accounted) < accountingAge {
		return nil
	}
	past, err := p.s.Client.past(ctx, now, chainDays)
	if err != nil {
		p.doubt(fmt.Errorf("the accounting does not answer, so run times are those of jobs that the controller remembers: %w", err))
		return nil
	}
	p.past, p.accounted = past, now
	return nil
}

func (p *Provisioner) deciding(now time.Time) bool {
	last := p.ledger.Last()
	return last != nil && last.Started && !last.Ended && !now.Before(p.decision)
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// state returns what the policy decides by.
func (p *Provisioner) state(last *Link, now time.Time) policy.State {
	at, start, limit := now.Unix(), last.Start, int64(p.s.Service.Seconds())
	minutes, nodes := float64(limit)/60, float64(p.s.Request.Nodes)
	wait := 0.0
	if !last.Intent.IsZero() {
		wait = max(float64(last.Start)-seconds(last.Intent), 0)
	}
	s := policy.State{
		Now: at, PredStart: start, PredEnd: start + limit,
		Service: chain.Service{Nodes: p.s.Request.Nodes, Limit: limit},
		Waits:   p.history.waits(),
		History: samples.History{
			Moments:     p.history.window(at),
			Predecessor: [4]float64{minutes, nodes, wait, float64(max(at-start, 0))},
			Successor:   [4]float64{minutes, nodes, 0, 0},
		},
	}
	if p.s.Rules != nil || p.s.Live {
		s.Queue = func() (policy.Queue, error) {
			service, sim, err := p.resume(&s)
			return policy.NewQueue(service, sim), err
		}
	}
	return s
}
