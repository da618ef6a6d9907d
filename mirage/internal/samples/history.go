package samples

import (
	"fmt"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/simulator"
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
