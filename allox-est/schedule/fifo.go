package schedule

import (
	"cmp"
	"slices"
)

// fifo starts jobs in order of arrival, each on the device it reports faster
// of those with a free node. Nothing overtakes the first waiting job.
type fifo struct{}

func (fifo) Name() string { return "fifo" }

func (fifo) Next(s *State) (*Job, *Node, bool) {
	if len(s.Waiting) == 0 {
		return nil, nil, false
	}
	j := s.Waiting[0]
	order := slices.Clone(s.devices)
	slices.SortStableFunc(order, func(a, b Device) int {
		return cmp.Or(cmp.Compare(j.Reported[a], j.Reported[b]), cmp.Compare(b, a))
	})
	for _, d := range order {
		if n := s.Free(d, j); n != nil {
			return j, n, true
		}
	}
	return nil, nil, false
}
