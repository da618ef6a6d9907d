package provision

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/file"
)

// Errors returned by a provisioner.
var (
	// ErrUnsure is returned when it cannot be known any more whether a submission
	// reached the controller. A person has to look: Settings.Resolve.
	ErrUnsure = errors.New("it cannot be known whether the job was submitted")
	// ErrFailing is returned when five jobs in a row failed: they ran for less than a tenth of
	// their time, or were cancelled before. Opening the directory again restarts the count.
	ErrFailing = errors.New("five service jobs in a row failed")
	// ErrScript is returned when a service job exits with an error within minutes and no
	// service of the chain has run for a tenth of its time.
	ErrScript = errors.New("the script of the service fails")
	// ErrSettings is returned when the settings make no sense, or are not
	// those that the directory was begun with.
	ErrSettings = errors.New("unusable settings")
	// ErrSilent is returned when Slurm has not answered for ten minutes, or, once it
	// has, for as long as a service may run, after which none can be running. The
	// directory can be gone on with.
	ErrSilent = errors.New("no answer from Slurm")
	// ErrDouble is in a warning when two jobs carry the token of one link.
	ErrDouble = errors.New("two jobs for one link")
)

// Provisioner keeps one chain going. It is for one goroutine; Metrics may be
// read from others.
type Provisioner struct {
	Metrics *Metrics

	s         Settings
	dir       string
	ledger    *Ledger
	history   *history
	decisions *file.Log
	k         slurmview.Controller
	knows     bool // k is filled

	futile  int                 // jobs in a row that came to nothing, since Open
	failed  int64               // the latest of them
	quiet   time.Time           // since then no sbatch of an open link is running; zero if unknown
	doubted map[string]bool     // what was warned of
	missing map[int64]time.Time // job of a link -> not in the queue since
	mute    time.Time           // since then Slurm has not answered; zero where it does
	reached bool                // it has answered once
	view    *slurmview.View     // nil before it was seen
	past    []trace.Job         // that ended, where Settings.Forecasts asks for them
	// accounted is the time of the last answer of the accounting.
	accounted time.Time
	snapshot  time.Time // next one due
	decision  time.Time // next one due
	// lag is the time that the latest submission took, with its decision.
	lag time.Duration
	// begin is the time, in Unix seconds, for which the latest link's job waits; 0 is none.
	begin int64
	fixed bool // this site does not let a job's begin change
}

// Open takes a directory for its own and reads what is in it: the journal
// (journal.jsonl), the history of the queue (history.jsonl) and the decisions
// (decisions.jsonl). The error wraps file.ErrInUse, ErrLedger or
// ErrSettings.
func Open(dir string, s Settings) (*Provisioner, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	p := &Provisioner{Metrics: newMetrics(), s: s, dir: dir, doubted: map[string]bool{}, missing: map[int64]time.Time{}}
	ready := false
	defer func() {
		if !ready { // whatever ends it
			p.Close()
		}
	}()
	if err := p.open(); err != nil {
		return nil, err
	}
	p.Metrics.chain(p.ledger)
	ready = true
	return p, nil
}

func (p *Provisioner) open() (err error) {
	if p.ledger, err = OpenLedger(filepath.Join(p.dir, "journal.jsonl")); err != nil {
		return err
	}
	if p.history, err = openHistory(filepath.Join(p.dir, "history.jsonl")); err != nil {
		return err
	}
	if p.decisions, err = openLog(filepath.Join(p.dir, "decisions.jsonl"), "why", func(Verdict) error { return nil }); err != nil {
		return err
	}
	for _, log := range []*file.Log{p.ledger.log, p.history.log, p.decisions} {
		if log.Unlocked != nil {
			p.s.Warn(log.Unlocked)
		}
	}
	if p.ledger.Chain == "" {
		var name [6]byte
		if _, err := rand.Read(name[:]); err != nil {
			return err
		}
		return p.append(Entry{Kind: Begin, Chain: hex.EncodeToString(name[:])})
	}
	return nil
}

// Close closes the files. What was begun can be gone on with by Open.
func (p *Provisioner) Close() error {
	var errs []error
	if p.decisions != nil {
		errs = append(errs, p.decisions.Close())
	}
	if p.history != nil && p.history.log != nil {
		errs = append(errs, p.history.log.Close())
	}
	if p.ledger != nil {
		errs = append(errs, p.ledger.Close())
	}
	return errors.Join(errs...)
}

// Ledger returns the journal; it is the provisioner's to change.
func (p *Provisioner) Ledger() *Ledger { return p.ledger }

func (p *Provisioner) append(e Entry) error {
	e.At = p.s.Clock.Now().UTC()
	err := p.ledger.Append(e)
	if err == nil {
		p.s.Tell(e)
	}
	return err
}

// Run keeps the chain going until all its services have ended or the context
// is done. What a poll could not do goes to Settings.Warn and is tried again
// at the next one; the errors that end the run are ErrUnsure, ErrFailing, ErrScript,
// ErrRefused, ErrNeverStarts for the first service, ErrLedger, ErrWrite after as long as
// ErrSilent, and the context's.
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
			return p.leave(ctx)
		case errors.Is(err, slurmview.ErrCommand) || errors.Is(err, slurmview.ErrAnswer) || errors.Is(err, ErrWrite):
			p.Metrics.pollErrors.Inc()
			silent := p.silent()
			if silent > 0 && errors.Is(err, ErrWrite) {
				return fmt.Errorf("tried for %v: %w", silent, err)
			}
			if silent > 0 {
				return fmt.Errorf("%w for %v: %w", ErrSilent, silent, err)
			}
			p.s.Warn(err)
		case err != nil:
			return err
		case done:
			return nil
		default:
			p.mute, p.reached = time.Time{}, true
		}
		p.Metrics.chain(p.ledger)
		if err := p.s.Clock.Sleep(ctx, p.pause()); err != nil {
			return p.leave(ctx)
		}
	}
}

// silent returns for how long no step has succeeded, if that is too long, else 0.
func (p *Provisioner) silent() time.Duration {
	now, most := p.s.Clock.Now(), firstAnswer
	if p.mute.IsZero() {
		p.mute = now
	}
	if p.reached {
		most = max(most, p.s.Request.Limit)
	}
	if silent := now.Sub(p.mute); silent >= most {
		return silent.Round(time.Second)
	}
	return 0
}

// firstAnswer bounds the wait for the first answer of a Slurm: longer than a controller takes
// to start.
const firstAnswer = 10 * time.Minute

// leave says why the run was stopped and, where that is wanted, leaves a successor
// behind that starts when the running service has ended.
func (p *Provisioner) leave(ctx context.Context) error {
	last := p.ledger.Last()
	more := p.s.Links == 0 || len(p.ledger.Links) < p.s.Links
	if !p.s.Leave || p.s.DryRun || !more || last == nil || !last.Started || last.Ended {
		return ctx.Err()
	}
	defer func() { p.s.Request.After = 0 }()
	p.s.Request.After = last.Job
	v := Verdict{Why: whyStop, Link: last.Number, Job: last.Job, Remaining: p.end(last).Sub(p.s.Clock.Now()).Seconds()}
	// It is to be submitted although, and because, the run is over.
	if err := p.submit(context.WithoutCancel(ctx), v, last.Number+1); err != nil {
		p.s.Warn(fmt.Errorf("no successor submitted on exit: %w", err))
	}
	return ctx.Err()
}

// pause returns the time to the next look at the queue: Poll, or less when the
// running service ends before.
func (p *Provisioner) pause() time.Duration {
	pause := p.s.Poll
	if last := p.current(); last != nil && last.Started && !last.Ended {
		if left := p.end(last).Sub(p.s.Clock.Now()); left > 0 {
			pause = min(pause, left)
		}
	}
	return max(pause, time.Millisecond)
}

// end returns the planned end of a running service.
func (p *Provisioner) end(k *Link) time.Time { return time.Unix(k.Start, 0).Add(p.s.Service) }

// step looks at the queue once and does what is due.
func (p *Provisioner) step(ctx context.Context) (done bool, err error) {
	if !p.knows {
		if p.k, err = p.s.Client.Controller(ctx); err != nil {
			return false, err
		}
		if p.s.RequestTimeout == 0 {
			p.s.RequestTimeout = 2 * p.k.MessageTimeout
		}
		if p.k.Private {
			p.doubt(slurmview.ErrPrivate)
		}
		if p.s.NoOverlap && !p.k.DependentsAge() {
			p.doubt(ErrNoPriorityGain)
		}
		p.knows = true
	}
	if last := p.ledger.Last(); last != nil && last.Job == 0 && !p.s.DryRun {
		if last.Open {
			return false, p.resolve(ctx, last.Number)
		}
		if p.futile >= patience {
			return false, p.giveUp(ctx, p.failed, ErrFailing)
		}
		if err := p.try(ctx, last.Number); err != nil || p.ledger.Last().Job != 0 {
			return false, err
		} // it is refused for now: the service before it goes on
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
