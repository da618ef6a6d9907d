package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// chainDays is the age in days of the oldest jobs from which a chain learns: its policy repeats
// the arrivals of four weeks.
const chainDays = 28

// observe adds to the history.
func (p *Provisioner) observe(ctx context.Context, jobs []slurmview.Job) error {
	now := p.s.Clock.Now()
	due := !now.Before(p.snapshot) || p.deciding(now)
	seen := jobs
	if p.s.Partition != "" {
		seen = slices.DeleteFunc(slices.Clone(jobs), func(j slurmview.Job) bool { return !j.In(p.s.Partition) })
	}
	unwritten := p.history.see(seen, now.Unix(), p.ledger.isUsed)
	if due {
		unwritten = cmp.Or(unwritten, p.history.snapshot(seen, seconds(now)))
		p.snapshot = now.Add(samples.SnapshotSeconds * time.Second)
		if err := p.look(ctx, jobs, now); err != nil {
			p.s.Warn(err)
		}
		p.Metrics.queue(seen)
	}
	if unwritten != nil { // a full disk does not stop the chain
		p.s.Warn(fmt.Errorf("the history of the queue is not recorded: %w", unwritten))
	}
	p.Metrics.lastPoll.Set(seconds(now))
	return nil
}

// accountingAge is the age at which what the accounting knows is read again.
const accountingAge = time.Hour

// look takes the view of the cluster by which the policy decides.
func (p *Provisioner) look(ctx context.Context, jobs []slurmview.Job, now time.Time) (err error) {
	if p.s.Forecasts && p.k.Accounting && (p.accounted.IsZero() || now.Sub(p.accounted) >= accountingAge) {
		if past, err := p.s.Client.Past(ctx, now, chainDays); err == nil {
			p.past, p.accounted = past, now
		} else {
			p.doubt(fmt.Errorf("the accounting does not answer, so run times are those of jobs that the controller remembers: %w", err))
		}
	}
	p.view, err = p.s.Client.Look(ctx, now, slurmview.Sight{Controller: &p.k, Jobs: jobs, Own: p.ledger.isUsed, Past: p.past})
	if err != nil {
		p.view = nil
		return err
	}
	for _, what := range slices.Concat(p.view.Unread, p.unknowns(jobs)) {
		p.doubt(fmt.Errorf("decisions ignore what is not known: %s", what))
	}
	for _, note := range p.view.Notes {
		p.doubt(errors.New(note))
	}
	return nil
}

// unknowns names what may hold the next service back and is not part of the forecast: it is
// under the limits of the latest one.
func (p *Provisioner) unknowns(jobs []slurmview.Job) []string {
	last := p.ledger.Last()
	if last == nil {
		return nil
	}
	at := slices.IndexFunc(jobs, func(j slurmview.Job) bool { return j.ID == last.Job })
	if at < 0 {
		return nil
	}
	return p.view.FindUnknownsOf(&jobs[at])
}

func (p *Provisioner) deciding(now time.Time) bool {
	last := p.current()
	return last != nil && last.Started && !last.Ended && !now.Before(p.decision) && now.Before(p.end(last))
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// state returns what the policy decides by.
func (p *Provisioner) state(last *Link, now time.Time) policy.State {
	at := now.Unix()
	start := last.Start
	limit := int64(p.s.Service.Seconds())
	service := chain.Service{Nodes: p.s.Request.Nodes, Limit: limit}
	wait := 0.0
	if !last.Intent.IsZero() {
		wait = max(float64(last.Start)-seconds(last.Intent), 0)
	}
	s := policy.State{
		Now: at, PredEnd: start + limit, Interval: int64(math.Ceil(p.s.Interval.Seconds())),
		Service: service,
		Waits:   p.history.waits(),
		History: samples.History{Moments: p.history.window(at), Service: service, WaitSeconds: wait, ElapsedSeconds: float64(max(at-start, 0))},
	}
	if p.s.Forecasts {
		s.Queue = func() (policy.Queue, error) {
			service, sim, err := p.resume(&s)
			return policy.NewQueue(service, sim), err
		}
	}
	return s
}

// ErrUnseen is returned when the cluster has not been described yet.
var ErrUnseen = errors.New("the nodes of the cluster are unknown so far")

// resume returns the queue as it was last seen and the service in it, which takes what
// its predecessor has.
func (p *Provisioner) resume(s *policy.State) (chain.Service, *simulator.Simulator, error) {
	service := s.Service
	if p.view == nil {
		return service, nil, ErrUnseen
	}
	next := trace.Job{Nodes: service.Nodes, Limit: service.Limit}
	if p.begin != 0 {
		next.ID = fmt.Sprint(p.ledger.Last().Job)
	}
	job, sim, err := p.view.Successor(next)
	service.Nodes, service.Priority = job.Nodes, job.Priority
	service.Partition = job.Partition
	service.Need = job.Need
	service.Charges = job.Charges
	return service, sim, err
}
