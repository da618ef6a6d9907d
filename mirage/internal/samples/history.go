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

// carried is the subject of a camera: a simulation, or a pair in one.
type carried interface {
	RunUntil(at int64)
	Simulation() *simulator.Simulator
}

// RunUntil carries a simulation to an instant and takes the snapshots due on
// the way, the instant included. Those due before the simulation began are
// taken at its beginning.
func (c *Camera) RunUntil(sim carried, at int64) {
	for ; c.next <= at; c.next += SnapshotSeconds {
		sim.RunUntil(c.next)
		if len(c.moments) == 2*Steps {
			c.moments = append(c.moments[:0], c.moments[Steps:]...)
		}
		c.moments = append(c.moments, Moment{c.next, c.lens.Of(sim.Simulation())})
	}
	sim.RunUntil(at)
}

// History holds what is known at a decision: the last 144 snapshots, oldest first, and the two
// service jobs at that time.
type History struct {
	Moments     []Moment
	Predecessor [4]float64 // limit (minutes), nodes, wait (s), elapsed (s)
	Successor   [4]float64 // limit (minutes), nodes, 0, 0
}

// History returns the history of a pair at its present instant. It shares the
// snapshots with the camera until the camera moves on.
func (c *Camera) History(p *chain.Pair) (History, error) {
	if len(c.moments) < Steps {
		return History{}, fmt.Errorf("%d snapshots, want %d", len(c.moments), Steps)
	}
	h := History{Moments: c.moments[len(c.moments)-Steps:]}
	limit, nodes := float64(p.Service.Limit)/60, float64(p.Service.Nodes)
	h.Successor = [4]float64{limit, nodes, 0, 0}
	h.Predecessor = [4]float64{limit, nodes, float64(p.Now() - p.Submit), 0}
	if start, _, ok := p.Predecessor(); ok {
		h.Predecessor[2], h.Predecessor[3] = float64(start-p.Submit), float64(p.Now()-start)
	}
	return h, nil
}

// Tensor writes the history as 144 rows of 42 features into x.
func (h *History) Tensor(x []float64) {
	for i := range h.Moments {
		row := x[i*Features : (i+1)*Features]
		copy(row, h.Moments[i].Snapshot[:])
		copy(row[queueFeatures:], h.Predecessor[:])
		copy(row[queueFeatures+4:], h.Successor[:])
	}
}

// Shape of a history.
const (
	Steps           = 144 // snapshots
	SnapshotSeconds = 600 // between two of them
	queueFeatures   = 34  // of the queue as such, in every snapshot
	Features        = 42  // with predecessor and successor
)

// Snapshot is the state of the queue at an instant: for the pending jobs,
// then for the running ones, their number, the sum of their nodes, and the 0,
// 25, 50, 75 and 100 % quantiles of three quantities. For pending jobs these
// are limit (minutes), age (s) and 0; for running ones limit (minutes), wait
// (s) and elapsed time (s). All are 0 where there are no jobs.
type Snapshot [queueFeatures]float64

// Columns returns the names of the 42 features of a snapshot, in order.
func Columns() []string {
	var names []string
	group := func(kind string, quantities ...string) {
		names = append(names, kind+"_jobs", kind+"_nodes")
		for _, q := range quantities {
			for _, percent := range []int{0, 25, 50, 75, 100} {
				names = append(names, fmt.Sprintf("%s_%s_p%d", kind, q, percent))
			}
		}
	}
	group("pending", "limit_minutes", "age_seconds", "elapsed_seconds")
	group("running", "limit_minutes", "wait_seconds", "elapsed_seconds")
	for _, job := range []string{"predecessor", "successor"} {
		names = append(names, job+"_limit_minutes", job+"_nodes", job+"_wait_seconds", job+"_elapsed_seconds")
	}
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
	half := s[:queueFeatures/2]
	half[0] = float64(len(pending))
	for _, p := range pending {
		half[1] += p.Nodes
	}
	quantiles(half[2:7], l.column(len(pending), func(i int) float64 { return pending[i].LimitMinutes }))
	quantiles(half[7:12], l.column(len(pending), func(i int) float64 { return pending[i].AgeSeconds }))
	half = s[queueFeatures/2:]
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
