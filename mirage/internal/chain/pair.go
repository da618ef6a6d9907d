package chain

import (
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// DecisionSeconds is the time between two decisions.
const DecisionSeconds = 600

// ErrNeverStarts is returned when a service job does not start before the simulation is over.
var ErrNeverStarts = errors.New("the job never starts")

// Service describes each job of the chain. It runs to its limit.
type Service struct {
	Nodes    int
	Limit    int64   // seconds
	Priority float64 // as the log would hold it
	// Need is the part of its nodes that it takes, on a machine with kinds of nodes; nil is
	// all.
	Need *trace.Need `json:",omitempty"`
	// Partition is the one it runs in, on a machine with partitions.
	Partition string `json:",omitempty"`
	// Charges holds the amounts that it adds to the simulation's limits.
	Charges []trace.Charge `json:",omitempty"`
}

func (s Service) job() trace.Job {
	return trace.Job{User: "service", End: s.Limit, Limit: s.Limit, Nodes: s.Nodes, Priority: s.Priority, Need: s.Need, Partition: s.Partition, Charges: s.Charges}
}

// Pair is a predecessor in a simulation in progress.
type Pair struct {
	Service Service
	Submit  int64 // of the predecessor, Unix seconds
	sim     *simulator.Simulator
	pred    int
}

// Begin forks a simulation of the other jobs and submits the predecessor at
// an instant. The simulation itself must not be past that instant and stays
// as it is. The error wraps cluster.ErrOversize.
func Begin(background *simulator.Simulator, at int64, s Service) (*Pair, error) {
	return Attach(background.Fork(), at, s)
}

// Attach begins a pair like [Begin], without a fork: the pair takes the simulation over.
func Attach(sim *simulator.Simulator, at int64, s Service) (*Pair, error) {
	sim.RunUntil(at)
	pred, err := sim.Submit(s.job())
	if err != nil {
		return nil, err
	}
	return &Pair{Service: s, Submit: at, sim: sim, pred: pred}, nil
}

// Now returns the time that the pair has reached.
func (p *Pair) Now() int64 { return p.sim.Now() }

// Simulation returns the simulation that contains the pair.
func (p *Pair) Simulation() *simulator.Simulator { return p.sim }

// RunUntil carries the pair to an instant.
func (p *Pair) RunUntil(at int64) { p.sim.RunUntil(at) }

// RunUntilStarted carries the pair to the start of the predecessor.
func (p *Pair) RunUntilStarted() error {
	if !p.sim.RunUntilStarted(p.pred, math.MaxInt64) {
		return fmt.Errorf("predecessor of %d nodes submitted at %d: %w", p.Service.Nodes, p.Submit, ErrNeverStarts)
	}
	return nil
}

// Predecessor returns the start and end of the predecessor; ok is false while
// it is pending.
func (p *Pair) Predecessor() (start, end int64, ok bool) {
	e := p.sim.Extra(p.pred)
	return e.Start, e.End(), e.Started
}

// Fork returns an independent copy.
func (p *Pair) Fork() *Pair {
	c := *p
	c.sim = p.sim.Fork()
	return &c
}

// Outcome describes the result of submitting the successor at some time. Times are Unix
// seconds.
type Outcome struct {
	PredStart, PredEnd int64
	Submitted          int64 // the successor
	SuccStart          int64
	Backfilled         bool // the successor started out of turn
}

// Release returns the outcome if the predecessor is cancelled once the successor runs.
func (o Outcome) Release() Outcome {
	o.PredEnd = min(o.PredEnd, max(o.SuccStart, o.PredStart))
	return o
}

// RewardSeconds returns the successor's start less the predecessor's end.
func (o Outcome) RewardSeconds() int64 { return o.SuccStart - o.PredEnd }

// InterruptionHours returns the time in which nothing ran.
func (o Outcome) InterruptionHours() float64 { return max(0, float64(o.RewardSeconds())/3600) }

// OverlapHours returns the time in which both ran.
func (o Outcome) OverlapHours() float64 { return max(0, -float64(o.RewardSeconds())/3600) }

// SubmitNow answers what would happen if the successor were submitted now.
// The pair stays as it is.
func (p *Pair) SubmitNow() (Outcome, error) {
	f := p.Fork()
	at := f.sim.Now()
	succ, err := f.sim.Submit(p.Service.job())
	if err != nil {
		return Outcome{}, err
	}
	if !f.sim.RunUntilStarted(f.pred, math.MaxInt64) {
		return Outcome{}, fmt.Errorf("predecessor of %d nodes: %w", p.Service.Nodes, ErrNeverStarts)
	}
	if !f.sim.RunUntilStarted(succ, math.MaxInt64) {
		return Outcome{}, fmt.Errorf("successor of %d nodes submitted at %d: %w", p.Service.Nodes, at, ErrNeverStarts)
	}
	start, end, _ := f.Predecessor()
	e := f.sim.Extra(succ)
	return Outcome{start, end, at, e.Start, e.Backfilled}, nil
}

// Cost is interruption plus Overlap times overlap, in hours.
type Cost struct {
	Overlap float64 // cost of an hour of overlap against one of interruption
}

// CostOf returns the cost of an outcome.
func (c Cost) CostOf(o Outcome) float64 { return o.InterruptionHours() + c.Overlap*o.OverlapHours() }

// Decisions calls decide at the start of the predecessor, then at each
// multiple of ten minutes after its submission, and returns what comes of
// submitting the successor the first time that decide says so, or at the end
// of the predecessor at the latest. The pair is carried along.
func (p *Pair) Decisions(decide func(p *Pair) (submit bool, err error)) (Outcome, error) {
	if err := p.RunUntilStarted(); err != nil {
		return Outcome{}, err
	}
	_, end, _ := p.Predecessor()
	for at := p.Now(); at < end; at = p.nextDecision(at) {
		p.RunUntil(at)
		submit, err := decide(p)
		if err != nil {
			return Outcome{}, err
		}
		if submit {
			return p.SubmitNow()
		}
	}
	p.RunUntil(end)
	return p.SubmitNow()
}

func (p *Pair) nextDecision(at int64) int64 {
	return at + DecisionSeconds - (at-p.Submit)%DecisionSeconds
}

// Best returns the outcome with the least cost over all decisions, by trying
// every one: what an oracle would have done. Of equals it takes the earliest
// submission.
func (p *Pair) Best(c Cost) (Outcome, error) {
	var best Outcome
	least := math.Inf(1)
	try := func(p *Pair) (bool, error) {
		o, err := p.SubmitNow()
		if err == nil && c.CostOf(o) < least {
			best, least = o, c.CostOf(o)
		}
		return false, err
	}
	last, err := p.Decisions(try)
	if err != nil {
		return Outcome{}, err
	}
	if c.CostOf(last) < least {
		best = last
	}
	return best, nil
}

// WaitIn returns the time from now to the start of a service job in a future of a simulation,
// which does not change, in seconds, at most the bound. The job is submitted after some seconds.
func (s Service) WaitIn(sim *simulator.Simulator, f simulator.Future, after, bound int64) (float64, error) {
	job := s.job()
	job.Eligible = sim.Now() + after
	wait, err := sim.WaitIn(f, job, bound)
	return float64(wait.Seconds), err
}
