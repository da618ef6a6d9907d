package schedule

import (
	"slices"
)

// preemptive is a policy that places all jobs anew at every event, those that
// run too. A job keeps its work when it is stopped or moved, at no cost.
type preemptive struct {
	name  string
	order func(s *State, running []*Job) []placement // those that go first at the front
	next  []placement                                // decided by Stop, in reverse
}

// placement is a job on a device.
type placement struct {
	job    *Job
	device Device
	need   float64 // what goes first has least
}

func (p *preemptive) Name() string { return p.name }

// Stop decides every placement anew and returns the running jobs that are not
// to stay where they are. Jobs stay on their node if they keep its device.
func (p *preemptive) Stop(s *State) []*Job {
	p.next = p.next[:0]
	var running []*Job
	for _, n := range s.Nodes {
		if n.Running != nil {
			running = append(running, n.Running)
		}
	}
	var room [Devices]int
	for _, d := range s.devices {
		room[d] = s.Cluster.Nodes(d)
	}
	placed := make(map[*Job]bool)
	stays := make(map[*Job]bool)
	for _, c := range p.order(s, running) {
		if placed[c.job] || room[c.device] == 0 {
			continue
		}
		placed[c.job] = true
		room[c.device]--
		if c.stays() == 1 {
			stays[c.job] = true
		} else {
			p.next = append(p.next, c)
		}
	}
	slices.Reverse(p.next)
	return slices.DeleteFunc(running, func(j *Job) bool { return stays[j] })
}

// stays is 1 for a running job on its own device.
func (c placement) stays() int {
	if c.job.Node != nil && c.job.Node.Device == c.device {
		return 1
	}
	return 0
}

// Next carries out what Stop decided.
func (p *preemptive) Next(s *State) (*Job, *Node, bool) {
	for len(p.next) > 0 {
		c := p.next[len(p.next)-1]
		p.next = p.next[:len(p.next)-1]
		if n := s.Free(c.device, c.job); n != nil {
			return c.job, n, true
		}
	}
	return nil, nil, false
}
