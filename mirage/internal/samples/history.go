package samples

import (
	"fmt"
	"slices"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/shared/stats"
)

// Moment is a snapshot and when it was taken, in Unix seconds.
type Moment struct {
	At int64
	Snapshot
}

// Camera carries a pair along and takes a snapshot each ten minutes, on a
// grid that goes through the predecessor's submission. It remembers the last
// day of them.
type Camera struct {
	lens    Lens
	moments []Moment // ascending, at most twice Steps
	next    int64
}

// Begin submits a predecessor at an instant of a simulation of the other jobs, which
// must not be past the day before and stays as it is: the pair, with a camera that has
// taken that day, and when the predecessor will start and end without a successor.
func Begin(background *simulator.Simulator, at int64, service chain.Service) (pair *chain.Pair, c *Camera, start, end int64, err error) {
	sim := background.Fork()
	c = &Camera{next: at - (Steps-1)*SnapshotSeconds}
	c.RunUntil(sim, at-1)
	if pair, err = chain.Attach(sim, at, service); err != nil {
		return nil, nil, 0, 0, err
	}
	ahead := pair.Fork()
	err = ahead.RunUntilStarted()
	start, end, _ = ahead.Predecessor()
	return pair, c, start, end, err
}

// RunUntil carries a simulation to an instant and takes the snapshots due on
// the way, the instant included. Those due before the simulation began are
// taken at its beginning.
func (c *Camera) RunUntil(sim *simulator.Simulator, at int64) {
	for ; c.next <= at; c.next += SnapshotSeconds {
		sim.RunUntil(c.next)
		if len(c.moments) == 2*Steps {
			c.moments = append(c.moments[:0], c.moments[Steps:]...)
		}
		c.moments = append(c.moments, Moment{c.next, c.lens.Of(sim)})
	}
	sim.RunUntil(at)
}

// History holds what is known at a decision: the last 144 snapshots, oldest first, and for how
// long the predecessor waited, or has waited so far, and has been running.
type History struct {
	Moments        []Moment
	Service        chain.Service
	WaitSeconds    float64
	ElapsedSeconds float64
}

// History returns the history of a pair, for whose present instant the camera has taken a day.
// It shares the snapshots with the camera until the camera moves on.
func (c *Camera) History(p *chain.Pair) History {
	h := History{Moments: c.moments[len(c.moments)-Steps:], Service: p.Service, WaitSeconds: float64(p.Now() - p.Submit)}
	if start, _, ok := p.Predecessor(); ok {
		h.WaitSeconds, h.ElapsedSeconds = float64(start-p.Submit), float64(p.Now()-start)
	}
	return h
}

// Shape of a history.
const (
	Steps           = 144 // snapshots
	SnapshotSeconds = 600 // between two of them
	features        = 29  // of a snapshot
	runningFrom     = 12  // the first one of the running jobs
)

// Snapshot is the state of the queue at an instant: for the pending jobs,
// then for the running ones, their number, the sum of their nodes, and the 0,
// 25, 50, 75 and 100 % quantiles of some quantities. For pending jobs these
// are limit (minutes) and age (s); for running ones limit (minutes), wait
// (s) and elapsed time (s). All are 0 where there are no jobs.
type Snapshot [features]float64

// columns returns the names of the features of a snapshot, in order.
func columns() []string {
	var names []string
	group := func(kind string, quantities ...string) {
		names = append(names, kind+"_jobs", kind+"_nodes")
		for _, q := range quantities {
			for _, percent := range []int{0, 25, 50, 75, 100} {
				names = append(names, fmt.Sprintf("%s_%s_p%d", kind, q, percent))
			}
		}
	}
	group("pending", "limit_minutes", "age_seconds")
	group("running", "limit_minutes", "wait_seconds", "elapsed_seconds")
	return names
}

// Pending is a pending job as a snapshot sees it.
type Pending struct {
	LimitMinutes, Nodes, AgeSeconds float64
}

// Running is a running job as a snapshot sees it.
type Running struct {
	LimitMinutes, Nodes, WaitSeconds, ElapsedSeconds float64
}

// Lens takes snapshots. It keeps scratch space: each goroutine needs its own.
type Lens struct {
	pending []Pending
	running []Running
	scratch []float64
}

// Take summarises jobs.
func (l *Lens) Take(pending []Pending, running []Running) (s Snapshot) {
	half := s[:runningFrom]
	half[0] = float64(len(pending))
	for _, p := range pending {
		half[1] += p.Nodes
	}
	quantiles(half[2:7], l.column(len(pending), func(i int) float64 { return pending[i].LimitMinutes }))
	quantiles(half[7:12], l.column(len(pending), func(i int) float64 { return pending[i].AgeSeconds }))
	half = s[runningFrom:]
	half[0] = float64(len(running))
	for _, r := range running {
		half[1] += r.Nodes
	}
	quantiles(half[2:7], l.column(len(running), func(i int) float64 { return running[i].LimitMinutes }))
	quantiles(half[7:12], l.column(len(running), func(i int) float64 { return running[i].WaitSeconds }))
	quantiles(half[12:17], l.column(len(running), func(i int) float64 { return running[i].ElapsedSeconds }))
	return s
}

// Of takes a snapshot of a simulation at its present instant.
func (l *Lens) Of(sim *simulator.Simulator) Snapshot {
	now := sim.Now()
	l.pending, l.running = l.pending[:0], l.running[:0]
	sim.Queue().Each(now, func(r *cluster.Request) bool {
		l.pending = append(l.pending, Pending{float64(r.Limit) / 60, float64(r.Nodes), float64(now - r.Submit)})
		return true
	})
	for _, a := range sim.Nodes().Running() {
		l.running = append(l.running, Running{float64(a.Until-a.Start) / 60, float64(a.Nodes), float64(a.Start - sim.SubmitTime(a.Job)), float64(now - a.Start)})
	}
	return l.Take(l.pending, l.running)
}

func (l *Lens) column(n int, value func(int) float64) stats.Sorted {
	l.scratch = l.scratch[:0]
	for i := range n {
		l.scratch = append(l.scratch, value(i))
	}
	slices.Sort(l.scratch)
	return l.scratch
}

// quantiles fills q with evenly spaced quantiles from 0 to 100 %; with nothing
// where there are no values.
func quantiles(q []float64, values stats.Sorted) {
	for i := range q {
		if len(values) > 0 {
			q[i] = values.Quantile(float64(i) / float64(len(q)-1))
		}
	}
}
