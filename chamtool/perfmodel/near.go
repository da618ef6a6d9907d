package perfmodel

import "math"

// neighbours is how many runs of one footprint are remembered with the moment of
// their creation.
const neighbours = 64

// neighbour is one of them.
type neighbour struct {
	created uint64
	y       float64
}

// nearLaw is the run of equal sizes whose task was created next to this one:
// tasks that a program creates one behind the other do alike, whatever their
// sizes tell, as the tiles of one front of a factorisation do.
type nearLaw struct{ e *Entry }

func newNear(e *Entry) law { return nearLaw{e} }

func (nearLaw) momentary() {}
func (nearLaw) fit()       {}
func (nearLaw) forget()    {}

func (nearLaw) learn(f *Footprint, m Moment, y float64, _ bool) {
	if m.Created == 0 {
		return
	}
	if len(f.near) < neighbours {
		f.near = append(f.near, neighbour{m.Created, y})
		return
	}
	f.near[f.nearNext] = neighbour{m.Created, y}
	f.nearNext = (f.nearNext + 1) % neighbours
}

func (l nearLaw) answer(f *Footprint, m Moment) float64 {
	if m.Created == 0 || f.epoch != l.e.epoch {
		return math.NaN()
	}
	best, y := uint64(math.MaxUint64), math.NaN()
	for i := range f.near {
		if d := distance(f.near[i].created, m.Created); d <= best {
			best, y = d, f.near[i].y
		}
	}
	return y
}

func distance(a, b uint64) uint64 {
	if a < b {
		return b - a
	}
	return a - b
}
