package cluster

import (
	"slices"
	"sort"
)

// Profile is a step function of time: how many nodes are free from now on, if
// every running job ends at its limit and every reservation is kept. After
// the last step it is constant.
//
// Where nodes are of kinds it is such a function for each node, and a share says
// what a job takes of each of its nodes; elsewhere that is nil.
type Profile struct {
	steps[int]        // nodes free
	board      *board // nil where nodes are only counted
}

// steps are a step function of time.
type steps[T any] struct {
	at   []int64 // start of each step, ascending
	free []T     // what is free during the step
}

// split makes a step begin at a moment and returns its index.
func (s *steps[T]) split(at int64) int {
	i := sort.Search(len(s.at), func(i int) bool { return s.at[i] >= at })
	if i == len(s.at) || s.at[i] != at {
		s.at = slices.Insert(s.at, i, at)
		s.free = slices.Insert(s.free, i, s.free[max(i-1, 0)])
	}
	return i
}

// Reset makes the profile constant from now on.
func (p *Profile) Reset(now int64, free int) {
	p.at = append(p.at[:0], now)
	p.free = append(p.free[:0], free)
}

// Release adds nodes from a moment on that is not before any step added so
// far.
func (p *Profile) Release(at int64, nodes int) {
	last := len(p.at) - 1
	if p.at[last] == at {
		p.free[last] += nodes
		return
	}
	p.at = append(p.at, at)
	p.free = append(p.free, p.free[last]+nodes)
}

// Earliest returns the first moment from which nodes are free for so many seconds,
// at least one. The profile must have them free in the end.
func (p *Profile) Earliest(nodes int, share *Share, seconds int64) int64 {
	if p.board != nil {
		return p.board.earliest(nodes, share, seconds)
	}
	seconds = max(seconds, 1)
	start := 0
	for i := 0; i < len(p.at); i++ {
		if p.free[i] < nodes {
			start = i + 1
			continue
		}
		if i+1 == len(p.at) || p.at[i+1] >= p.at[start]+seconds {
			return p.at[start]
		}
	}
	panic("cluster: no room in the profile, ever")
}

// Fits reports whether nodes are free from the first moment on for so many
// seconds, at least one.
func (p *Profile) Fits(nodes int, share *Share, seconds int64) bool {
	if p.board != nil {
		return p.board.choose(nodes, share, p.at[0], seconds) != nil
	}
	end := p.at[0] + max(seconds, 1)
	for i := 0; i < len(p.at) && p.at[i] < end; i++ {
		if p.free[i] < nodes {
			return false
		}
	}
	return true
}

// Reserve takes nodes from from until to and says which, where nodes are of
// kinds: the first ones that are free for so long, of which there must be
// enough.
func (p *Profile) Reserve(from, to int64, nodes int, share *Share) *Place {
	if p.board == nil {
		p.reserve(from, to, nodes)
		return nil
	}
	place := &Place{On: p.board.choose(nodes, share, from, to-from), Share: share}
	for _, n := range place.On {
		by := p.board.layout.resources(share, n)
		p.board.rows[n].change(from, to, by, -1)
		place.CPUs += int32(by[cpus])
	}
	return place
}

// Promise takes nodes like Reserve, for a job that is yet to start; where nodes are
// of kinds, they are its own until it has started, as Slurm's backfill
// plans whole nodes.
func (p *Profile) Promise(from, to int64, nodes int, share *Share) {
	if p.board == nil {
		p.reserve(from, to, nodes)
		return
	}
	for _, n := range p.board.choose(nodes, share, from, to-from) {
		p.board.rows[n].change(from, to, p.board.layout.nodes[n], -1)
	}
}

// Close keeps the nodes that a job waits for from others until the profile is rebuilt. It
// reports whether there are others.
func (p *Profile) Close(share *Share) bool {
	if p.board == nil {
		return false
	}
	for n := range p.board.shut {
		p.board.shut[n] = p.board.shut[n] || share.In == nil || share.In[n]
	}
	return p.board.idle() > 0
}

// reserve takes nodes from from until to. Free nodes may become negative where
// more is down than was free.
func (p *Profile) reserve(from, to int64, nodes int) {
	if to <= from {
		return
	}
	first := p.split(from)
	last := p.split(to)
	for i := first; i < last; i++ {
		p.free[i] -= nodes
	}
}
