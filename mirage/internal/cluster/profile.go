package cluster

import (
	"math"
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

// board is the profile of a machine with nodes of several kinds. It holds the free amounts of
// each node from now on.
type board struct {
	layout *Layout
	rows   []row
	shut   []bool // nodes closed to others in this pass
	open   []opening
}

// row is a step function of time for one node.
type row struct{ steps[Amount] }

// opening is a moment from which one node more, or one less, could take a job.
type opening struct {
	at    int64
	delta int
}

const forever = math.MaxInt64

// reset makes every row constant from now on.
func (b *board) reset(l *Layout, now int64, free []Amount) {
	b.layout = l
	if len(b.rows) != len(l.nodes) {
		b.rows, b.shut = make([]row, len(l.nodes)), make([]bool, len(l.nodes))
	}
	clear(b.shut)
	for n := range b.rows {
		r := &b.rows[n]
		r.at, r.free = append(r.at[:0], now), append(r.free[:0], free[n])
	}
}

// change adds to what is free on a node from from until to.
func (r *row) change(from, to int64, by Amount, times int64) {
	first, last := r.split(from), len(r.at)
	if to != forever {
		last = r.split(to)
	}
	for i := first; i < last; i++ {
		r.free[i].add(by, times)
	}
}

// until returns the end of step i.
func (r *row) until(i int) int64 {
	if i+1 < len(r.at) {
		return r.at[i+1]
	}
	return forever
}

func (b *board) takes(n int, s *Share, free Amount) bool { return b.layout.takes(int32(n), s, free) }

// may says that a job may be placed on a node in this pass.
func (b *board) may(n int, s *Share) bool { return !b.shut[n] && b.layout.admits(int32(n), s) }

// choose returns the first nodes that take a job from at for so many seconds, or
// nil where there are not enough.
func (b *board) choose(nodes int, s *Share, at, seconds int64) []int32 {
	on := make([]int32, 0, nodes)
	for n := range b.rows {
		if b.may(n, s) && b.holds(n, s, at, at+max(seconds, 1)) {
			if on = append(on, int32(n)); len(on) == nodes {
				return on
			}
		}
	}
	return nil
}

// holds says that a node takes a job from from until to.
func (b *board) holds(n int, s *Share, from, to int64) bool {
	r := &b.rows[n]
	for i := len(r.at) - 1; i >= 0 && r.until(i) > from; i-- {
		if r.at[i] < to && !b.takes(n, s, r.free[i]) {
			return false
		}
	}
	return true
}

// earliest returns the first moment from which enough nodes take a job.
func (b *board) earliest(nodes int, s *Share, seconds int64) int64 {
	if nodes == 1 {
		return b.earliestOne(s, max(seconds, 1))
	}
	b.open = b.open[:0]
	for n := range b.rows {
		if b.may(n, s) {
			b.openings(n, s, max(seconds, 1))
		}
	}
	slices.SortFunc(b.open, func(x, y opening) int {
		switch {
		case x.at < y.at:
			return -1
		case x.at > y.at:
			return 1
		}
		return x.delta - y.delta
	})
	able := 0
	for _, o := range b.open {
		if able += o.delta; able >= nodes {
			return o.at
		}
	}
	panic("cluster: no room on the nodes, ever")
}

// earliestOne returns the first moment from which some node takes a job.
func (b *board) earliestOne(s *Share, seconds int64) int64 {
	best := int64(forever)
	for n := range b.rows {
		if !b.may(n, s) {
			continue
		}
		r := &b.rows[n]
		for i := 0; i < len(r.at) && r.at[i] < best; i++ {
			if !b.takes(n, s, r.free[i]) {
				continue
			}
			from := r.at[i]
			for i+1 < len(r.at) && r.at[i+1] < from+seconds && b.takes(n, s, r.free[i+1]) {
				i++
			}
			if r.until(i) == forever || r.until(i)-seconds >= from {
				best = from
			}
		}
	}
	return best
}

// openings notes from when until when a job could begin on a node.
func (b *board) openings(n int, s *Share, seconds int64) {
	r := &b.rows[n]
	for i := 0; i < len(r.at); i++ {
		if !b.takes(n, s, r.free[i]) {
			continue
		}
		from := r.at[i]
		for i+1 < len(r.at) && b.takes(n, s, r.free[i+1]) {
			i++
		}
		last := int64(forever)
		if to := r.until(i); to != forever {
			last = to - seconds + 1
		}
		if last > from {
			b.open = append(b.open, opening{from, 1}, opening{last, -1})
		}
	}
}

// idle returns the number of nodes with a free CPU at the first moment.
func (b *board) idle() int {
	n := 0
	for i := range b.rows {
		if b.rows[i].free[0][cpus] > 0 && !b.shut[i] {
			n++
		}
	}
	return n
}
