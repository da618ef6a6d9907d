package schedule

import (
	"context"
	"slices"
)

// allox is the policy of AlloX (Le, Sun, Chowdhury and Liu, EuroSys 2020) for one user:
// the jobs are matched to slots of the nodes with the least sum of reported completion
// times, and the first job of each free node starts.
type allox struct {
	plan plan // kept between matches
}

// Next returns the first job of a node that is free; of jobs that are alike the one
// that waits longest.
func (p *allox) Next(ctx context.Context, s *State) (*Job, *Node) {
	if len(s.running()) == len(s.Nodes) {
		return nil, nil
	}
	var ready [Devices][]float64
	for _, n := range s.Nodes {
		free := s.Now
		if j := n.Running; j != nil {
			free = max(s.Now, j.Started+j.Left*j.Reported[n.Device])
		}
		ready[n.Device] = append(ready[n.Device], free)
	}
	p.plan.update(ctx, ready, s.Waiting)
	for _, d := range []Device{GPU, CPU} {
		for _, n := range s.Nodes {
			if n.Device != d || n.Running != nil {
				continue
			}
			if first := p.plan.first(d, n.Index); first != nil {
				return s.Waiting[slices.IndexFunc(s.Waiting, func(j *Job) bool { return j.Reported == first.Reported })], n
			}
		}
	}
	return nil, nil
}
