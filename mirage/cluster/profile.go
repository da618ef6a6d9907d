package cluster

import (
	"slices"
	"sort"
)

// Profile is a step function of time: how many nodes are free from now on, if
// every running job ends at its limit and every reservation is kept. After
// the last step it is constant.
type Profile struct {
	at   []int64 // start of each step, ascending
	free []int   // nodes free during the step
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

// Now is the number of nodes free at the profile's first moment.
func (p *Profile) Now() int { return p.free[0] }

// Earliest is the first moment from which nodes are free for so many seconds,
// at least one. The profile must have them free in the end.
func (p *Profile) Earliest(nodes int, seconds int64) int64 {
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
func (p *Profile) Fits(nodes int, seconds int64) bool {
	end := p.at[0] + max(seconds, 1)
	for i := 0; i < len(p.at) && p.at[i] < end; i++ {
		if p.free[i] < nodes {
			return false
		}
	}
	return true
}

// Reserve takes nodes from from until to. Free nodes may become negative
// where more is down than was free.
func (p *Profile) Reserve(from, to int64, nodes int) {
	if to <= from {
		return
	}
	first := p.split(from)
	last := p.split(to)
	for i := first; i < last; i++ {
		p.free[i] -= nodes
	}
}

// split makes a step begin at a moment and returns its index.
func (p *Profile) split(at int64) int {
	i := sort.Search(len(p.at), func(i int) bool { return p.at[i] >= at })
	if i < len(p.at) && p.at[i] == at {
		return i
	}
	p.at = slices.Insert(p.at, i, at)
	p.free = slices.Insert(p.free, i, p.free[max(i-1, 0)])
	return i
}
