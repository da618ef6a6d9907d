package session

import "github.com/foretime/foretime/chamtool/perfmodel"

// places remember what each thread's tasks took, by the order in which the
// thread created them in an iteration.
type places []lanePlaces // by the thread's part of a token

type lanePlaces struct {
	iteration int
	first     uint64 // token of the iteration's first task
	cells     []cell
}

// cell is the last run of the tasks of one place.
type cell struct {
	footprint *perfmodel.Footprint
	seconds   float64
	iteration int
}

// laneShift is where the number of the thread begins in a token, as the C side
// counts.
const laneShift = 40

// mostPlaces bounds what is remembered of one thread's iteration.
const mostPlaces = 1 << 16

// of is the place of a task that was created in an iteration; -1 beyond what is
// remembered. Creations come in order.
func (p *places) of(token uint64, iteration int) int {
	for uint64(len(*p)) <= token>>laneShift {
		*p = append(*p, lanePlaces{iteration: -1})
	}
	l := &(*p)[token>>laneShift]
	if l.iteration != iteration {
		l.iteration, l.first = iteration, token
	}
	if at := token - l.first; at < mostPlaces {
		return int(at)
	}
	return -1
}

// same is what the task at a place took in an earlier iteration, 0 where it is
// not known or was another kind of task.
func (p places) same(token uint64, m *mark, iteration int) float64 {
	if m.place < 0 {
		return 0
	}
	l := &p[token>>laneShift] // the place stands in it
	if m.place >= len(l.cells) {
		return 0
	}
	if c := &l.cells[m.place]; c.footprint == m.footprint && c.iteration < iteration {
		return c.seconds
	}
	return 0
}

func (p places) ran(token uint64, m *mark, iteration int, seconds float64) {
	if m.place < 0 {
		return
	}
	l := &p[token>>laneShift]
	for len(l.cells) <= m.place {
		l.cells = append(l.cells, cell{})
	}
	l.cells[m.place] = cell{m.footprint, seconds, iteration}
}
