package schedule

// fifo starts jobs in order of arrival, each on the device it reports faster
// of those with a free node. Nothing overtakes the first waiting job.
type fifo struct{}

func (fifo) Name() string { return "fifo" }

func (fifo) Next(s *State) (*Job, *Node, bool) {
	if len(s.Waiting) == 0 {
		return nil, nil, false
	}
	j := s.Waiting[0]
	var best *Node
	for _, d := range s.devices {
		if n := s.Free(d, j); n != nil && (best == nil || j.Reported[d] <= j.Reported[best.Device]) {
			best = n
		}
	}
	return j, best, best != nil
}
