package schedule

import "slices"

// sjf starts the job and device of the shortest reported time of all waiting
// jobs and devices with a free node; of equal ones the job that waits longest.
type sjf struct{}

func (sjf) Name() string { return "sjf" }

func (sjf) Next(s *State) (*Job, *Node, bool) {
	var best *Job
	var on *Node
	for _, d := range s.devices {
		free := slices.IndexFunc(s.Nodes, func(n *Node) bool { return n.Device == d && n.Running == nil })
		if free < 0 {
			continue
		}
		for _, j := range s.Waiting {
			if best == nil || j.Reported[d] < best.Reported[on.Device] {
				best, on = j, s.Nodes[free]
			}
		}
	}
	if best == nil || !on.Fits(best) {
		return nil, nil, false
	}
	return best, on, true
}
