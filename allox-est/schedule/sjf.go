package schedule

import "slices"

// sjf starts the job and device of the shortest reported time of all waiting
// jobs and devices with a free node.
type sjf struct{}

func (sjf) Name() string { return "sjf" }

func (sjf) Next(s *State) (*Job, *Node, bool) {
	var best *Job
	var on Device
	for _, d := range s.devices {
		if j := shortest(s, d); j != nil && (best == nil || j.Reported[d] < best.Reported[on]) {
			best, on = j, d
		}
	}
	if best == nil {
		return nil, nil, false
	}
	return best, s.Free(on, best), true
}

// shortest returns the waiting job with the shortest reported time on a device
// that can start there now; of equal ones the one that waits longest.
func shortest(s *State, d Device) *Job {
	if !slices.ContainsFunc(s.Nodes, func(n *Node) bool { return n.Device == d && n.Running == nil }) {
		return nil
	}
	var best *Job
	for _, j := range s.Waiting {
		if best == nil || j.Reported[d] < best.Reported[d] {
			best = j
		}
	}
	if best == nil || s.Free(d, best) == nil {
		return nil
	}
	return best
}
