package slurm

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/policy"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/simulator"
)

// Errors returned by a provisioner.
var (
	// ErrUnsure is returned when nobody can tell any more whether a submission
	// reached the controller. A person has to look: Settings.Resolve.
	ErrUnsure = errors.New("it cannot be known whether the job was submitted")
	// ErrFailing is returned when five jobs in a row came to nothing: they ran
	// for less than a tenth of their time, or were cancelled before. Opening
	// the folder again starts the count anew.
	ErrFailing = errors.New("the services do not last")
	// ErrSettings is returned when the settings make no sense, or are not
	// those that the folder was begun with.
	ErrSettings = errors.New("unusable settings")
	// ErrDouble is in a warning when two jobs carry the token of one link.
	ErrDouble = errors.New("two jobs for one link")
)

// Settings say what a provisioner keeps alive and how.
type Settings struct {
	Client  *Client
	Clock   Clock // nil is Wall
	Policy  policy.Policy
	Request Request // Comment is set by the provisioner, Name extended
	// Service is how long a service job runs; 0 is Request.Limit.
	Service time.Duration
	// Partition, where it is not empty, is the one whose queue and nodes the
	// policy sees.
	Partition string
	// Links ends the chain after so many services; 0 goes on for ever.
	Links int
	// Interval is the time between two decisions; 0 is ten minutes.
	Interval time.Duration
	// Poll is the time between two looks at the queue; 0 is a fifth of
	// Interval.
	Poll time.Duration
	// Scale multiplies every time of the cluster before the policy sees it;
	// 0 is 1. Tests live a day in minutes.
	Scale float64
	// Settle is how long after its sbatch has gone a request may still reach
	// the controller; 0 is twice the controller's MessageTimeout.
	Settle time.Duration
	// Predecessor is a job that runs already and is the first of the chain;
	// 0 submits the first.
	Predecessor int64
	// Release cancels a predecessor when its successor runs.
	Release bool
	// Resolve answers ErrUnsure: the job that was submitted, or -1 for none.
	Resolve int64
	// DryRun decides and submits nothing.
	DryRun bool
	// Rules are the cluster and its scheduler, as far as they are known, for
	// policies that ask for a forecast of the queue; nil is none.
	Rules *simulator.Config
	// Warn is told of what went wrong and did not end the run; nil is told
	// nothing.
	Warn func(error)
}

func (s *Settings) complete() error {
	if s.Clock == nil {
		s.Clock = Wall{}
	}
	if s.Scale == 0 {
		s.Scale = 1
	}
	if s.Interval == 0 {
		s.Interval = 10 * time.Minute
	}
	if s.Poll == 0 {
		s.Poll = s.Interval / 5
	}
	if s.Service == 0 {
		s.Service = s.Request.Limit
	}
	if s.Warn == nil {
		s.Warn = func(error) {}
	}
	switch {
	case s.Client == nil || s.Policy == nil:
		return fmt.Errorf("%w: no client or no policy", ErrSettings)
	case s.Request.Nodes < 1 || s.Request.Limit <= 0:
		return fmt.Errorf("%w: a service of %d nodes and %v", ErrSettings, s.Request.Nodes, s.Request.Limit)
	case s.Service <= 0 || s.Service > s.Request.Limit:
		return fmt.Errorf("%w: a service runs %v, its limit is %v", ErrSettings, s.Service, s.Request.Limit)
	case s.Interval <= 0 || s.Poll <= 0 || s.Settle < 0 || s.Links < 0 || !(s.Scale > 0):
		return fmt.Errorf("%w: interval %v, poll %v, settle %v, %d services, time scale %v", ErrSettings, s.Interval, s.Poll, s.Settle, s.Links, s.Scale)
	case s.Request.Script == "" && !s.DryRun:
		return fmt.Errorf("%w: no script", ErrSettings)
	case s.DryRun && s.Predecessor == 0:
		return fmt.Errorf("%w: a dry run needs a predecessor", ErrSettings)
	}
	if s.Rules != nil {
		if _, err := s.Rules.Resume(simulator.Standing{}); err != nil {
			return fmt.Errorf("%w: %w", ErrSettings, err)
		}
		if err := s.Rules.Accepts(s.Request.Nodes); err != nil {
			return fmt.Errorf("%w: %w", ErrSettings, err)
		}
	}
	return nil
}

// Verdict is a decision, as the log of decisions holds it. Times that end in
// Seconds are the cluster's.
type Verdict struct {
	At        time.Time `json:"at"`
	Link      int       `json:"link"` // whose successor it is about
	Job       int64     `json:"job"`
	Remaining float64   `json:"remaining_seconds"`
	Submit    bool      `json:"submit"`
	Why       string    `json:"why"` // first, policy, wait, end of predecessor
	// ExpectedHours is the reward the policy expects of submitting now, in
	// policy time; absent where it expects nothing.
	ExpectedHours *float64  `json:"expected_hours,omitempty"`
	Features      []float64 `json:"features,omitempty"` // the last snapshot: samples.Columns
	MeanWait      float64   `json:"mean_wait_seconds"`  // of the last hundred, in policy time
	DryRun        bool      `json:"dry_run,omitempty"`
}

// Provisioner keeps one chain going. It is for one goroutine; Metrics may be
// read from others.
type Provisioner struct {
	Metrics *Metrics

	s         Settings
	dir       string
	inUse     *os.File
	ledger    *Ledger
	history   *history
	queue     []Job // of the partition, as last seen
	decisions *lines
	k         Controller
	knows     bool // k is filled

	futile   int                 // jobs in a row that came to nothing, since Open
	quiet    time.Time           // since then no sbatch of an open link is running; zero if unknown
	missing  map[int64]time.Time // job of a link -> not in the queue since
	snapshot time.Time           // next one due
	decision time.Time           // next one due
}

// Open takes a folder for its own and reads what is in it: the journal
// (journal.jsonl), the history of the queue (history.jsonl) and the decisions
// (decisions.jsonl). The error wraps ErrInUse, ErrLedger or ErrSettings.
func Open(dir string, s Settings) (*Provisioner, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	p := &Provisioner{Metrics: &Metrics{}, s: s, dir: dir, missing: map[int64]time.Time{}}
	opened := false
	defer func() {
		if !opened {
			p.Close()
		}
	}()
	if err := p.open(); err != nil {
		return nil, err
	}
	opened = true
	p.Metrics.chain(p.ledger)
	return p, nil
}

func (p *Provisioner) open() (err error) {
	if p.inUse, err = tryLock(filepath.Join(p.dir, "provision.lock")); err != nil {
		return err
	}
	if p.ledger, err = OpenLedger(filepath.Join(p.dir, "journal.jsonl")); err != nil {
		return err
	}
	if p.history, err = openHistory(filepath.Join(p.dir, "history.jsonl")); err != nil {
		return err
	}
	if p.decisions, err = openLines(filepath.Join(p.dir, "decisions.jsonl"), func(int, Verdict) error { return nil }); err != nil {
		return err
	}
	if p.ledger.Chain == "" {
		var name [6]byte
		if _, err := rand.Read(name[:]); err != nil {
			return err
		}
		return p.append(Entry{Kind: Begin, Chain: hex.EncodeToString(name[:]), Scale: p.s.Scale})
	}
	if p.ledger.Scale != p.s.Scale {
		return fmt.Errorf("%s: %w: time scale %v, it was begun with %v", p.dir, ErrSettings, p.s.Scale, p.ledger.Scale)
	}
	return nil
}

// Close closes the files. What was begun can be gone on with by Open.
func (p *Provisioner) Close() error {
	var errs []error
	if p.decisions != nil {
		errs = append(errs, p.decisions.close())
	}
	if p.history != nil && p.history.file != nil {
		errs = append(errs, p.history.close())
	}
	if p.ledger != nil {
		errs = append(errs, p.ledger.Close())
	}
	if p.inUse != nil {
		errs = append(errs, p.inUse.Close())
	}
	return errors.Join(errs...)
}

// Ledger is the journal; it is the provisioner's to change.
func (p *Provisioner) Ledger() *Ledger { return p.ledger }

func (p *Provisioner) append(e Entry) error {
	e.At = p.s.Clock.Now().UTC()
	return p.ledger.Append(e)
}

// Run keeps the chain going until all its services have ended or the context
// is done. What a poll could not do is told to Settings.Warn and tried again
// at the next one; the errors that end the run are ErrUnsure, ErrFailing,
// ErrLedger, what the disk says, and the context's.
func (p *Provisioner) Run(ctx context.Context) error {
	if p.ledger.Last() == nil && p.s.Predecessor != 0 {
		if err := p.append(Entry{Kind: Accepted, Link: 0, Job: p.s.Predecessor, Reason: "given"}); err != nil {
			return err
		}
	}
	for {
		done, err := p.step(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrCommand) || errors.Is(err, ErrAnswer):
			p.Metrics.add(&p.Metrics.pollErrors)
			p.s.Warn(err)
		case err != nil:
			return err
		case done:
			return nil
		}
		p.Metrics.chain(p.ledger)
		if err := p.s.Clock.Sleep(ctx, p.pause()); err != nil {
			return err
		}
	}
}

// pause is the time to the next look at the queue: Poll, or less when the
// running service ends before.
func (p *Provisioner) pause() time.Duration {
	pause := p.s.Poll
	if last := p.ledger.Last(); last != nil && last.Started && !last.Ended {
		if left := p.end(last).Sub(p.s.Clock.Now()); left > 0 {
			pause = min(pause, left)
		}
	}
	return max(pause, time.Millisecond)
}

// end is when a running service will have run its time.
func (p *Provisioner) end(k *Link) time.Time { return time.Unix(k.Start, 0).Add(p.s.Service) }

// step looks at the queue once and does what is due.
func (p *Provisioner) step(ctx context.Context) (done bool, err error) {
	if !p.knows {
		if p.k, err = p.s.Client.Controller(ctx); err != nil {
			return false, err
		}
		if p.s.Settle == 0 {
			p.s.Settle = 2 * p.k.MessageTimeout
		}
		p.knows = true
	}
	if last := p.ledger.Last(); last != nil && last.Job == 0 && !p.s.DryRun {
		if last.Open {
			return false, p.resolve(ctx, last.Number)
		}
		if p.futile >= patience {
			return false, fmt.Errorf("link %d: %w", last.Number, ErrFailing)
		}
		return false, p.try(ctx, last.Number)
	}
	jobs, err := p.s.Client.Queue(ctx)
	if err != nil {
		return false, err
	}
	if err := p.follow(ctx, jobs); err != nil {
		return false, err
	}
	if err := p.observe(ctx, jobs); err != nil {
		return false, err
	}
	return p.advance(ctx)
}

// follow brings the links up to date with the queue.
func (p *Provisioner) follow(ctx context.Context, jobs []Job) error {
	for i := range p.ledger.Links {
		k := &p.ledger.Links[i]
		if k.Job == 0 || k.Ended {
			continue
		}
		at := slices.IndexFunc(jobs, func(j Job) bool { return j.ID == k.Job })
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

// patience is how many jobs in a row may come to nothing.
const patience = 5

// note records what is new about the job of a link.
func (p *Provisioner) note(k *Link, j *Job) error {
	if j.Started() && !k.Started {
		if err := p.append(Entry{Kind: Started, Link: k.Number, Job: j.ID, Start: j.Start}); err != nil {
			return err
		}
		p.decision = time.Time{} // the first one is due at the start
	}
	switch {
	case !j.State.Over():
		return nil
	case k.Started:
		p.futile++
		if float64(j.End-k.Start) >= p.s.Service.Seconds()/10 || p.ledger.Last() != k {
			p.futile = 0
		}
		return p.append(Entry{Kind: Ended, Link: k.Number, Job: j.ID, End: j.End, Reason: string(j.State)})
	default:
		p.futile++
		p.s.Warn(fmt.Errorf("job %d of link %d ended without having started: %s", j.ID, k.Number, j.State))
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
	if now.Sub(since) < p.s.Settle {
		return nil
	}
	p.s.Warn(fmt.Errorf("job %d of link %d: the controller does not know it any more", k.Job, k.Number))
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
			if err := p.s.Client.Cancel(ctx, before.Job); err != nil {
				return err
			}
		}
	}
	return nil
}

// observe adds to the history.
func (p *Provisioner) observe(ctx context.Context, jobs []Job) error {
	now := p.s.Clock.Now()
	due := !now.Before(p.snapshot) || p.deciding(now)
	if p.s.Partition != "" {
		jobs = slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool { return !j.In(p.s.Partition) })
	}
	p.queue = jobs
	if err := p.history.see(jobs, seconds(now), p.scale(), p.ledger.used, due); err != nil {
		return err
	}
	if due {
		p.snapshot = now.Add(time.Duration(float64(samples.SnapshotSeconds*time.Second) / p.s.Scale))
		total, unavailable, err := p.s.Client.Nodes(ctx, p.s.Partition)
		if err != nil {
			p.s.Warn(err)
		}
		p.Metrics.queue(jobs, total, unavailable)
	}
	p.Metrics.polled(now)
	return nil
}

func (p *Provisioner) deciding(now time.Time) bool {
	last := p.ledger.Last()
	return last != nil && last.Started && !last.Ended && !now.Before(p.decision)
}

func (p *Provisioner) scale() scale { return scale{p.ledger.Begun.Unix(), p.s.Scale} }

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

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
		return p.allEnded(), nil
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
		if err := p.ask(&v, last, now); err != nil {
			p.s.Warn(fmt.Errorf("link %d: %w", last.Number, err))
			v.Why = "wait: " + err.Error()
		}
		// The next one is a whole number of intervals after the start.
		ran := now.Sub(time.Unix(last.Start, 0))
		p.decision = now.Add(p.s.Interval - ran%p.s.Interval)
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
	return false, p.log(v)
}

func (p *Provisioner) allEnded() bool {
	return !slices.ContainsFunc(p.ledger.Links, func(k Link) bool { return !k.Ended })
}

// ask puts the question to the policy.
func (p *Provisioner) ask(v *Verdict, last *Link, now time.Time) error {
	s := p.state(last, now)
	d, err := p.s.Policy.Decide(&s)
	if err != nil {
		return err
	}
	v.Submit, v.Why = d.Submit, "wait"
	if d.Submit {
		v.Why = "policy"
	}
	if d.Expects {
		v.ExpectedHours = &d.ExpectedHours
		p.Metrics.expects(d.ExpectedHours)
	}
	row := make([]float64, samples.Steps*samples.Features)
	s.History.Tensor(row)
	v.Features = row[(samples.Steps-1)*samples.Features:]
	for _, w := range s.Waits[:min(len(s.Waits), 100)] {
		v.MeanWait += w / float64(min(len(s.Waits), 100))
	}
	return nil
}

// state is what is known now, in policy time.
func (p *Provisioner) state(last *Link, now time.Time) policy.State {
	m := p.scale()
	at := m.unix(seconds(now))
	start := m.unix(float64(last.Start))
	limit := int64(m.span(p.s.Service.Seconds()))
	minutes, nodes := float64(limit)/60, float64(p.s.Request.Nodes)
	wait := 0.0
	if !last.Intent.IsZero() {
		wait = max(m.span(float64(last.Start)-seconds(last.Intent)), 0)
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
	if p.s.Rules != nil {
		s.Forecast = func() ([]float64, error) { return p.forecast(&s) }
	}
	return s
}

// log adds to the decisions.
func (p *Provisioner) log(v Verdict) error {
	v.At, v.DryRun = p.s.Clock.Now().UTC(), p.s.DryRun
	p.Metrics.add(&p.Metrics.decisions)
	return p.decisions.append(v, false)
}
