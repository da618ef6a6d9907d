package schedule

import (
	"cmp"
	"math"
	"slices"
)

// preemptive is a policy that places all jobs again at every event, including running ones: the
// shortest reported remaining time on a device goes first. A job keeps its work when it is
// stopped or moved, at no cost. It shows what could be reached without fairness and without the
// price of preemption.
type preemptive struct {
	next []placement // decided by Stop, in reverse
}

// placement is a job on a device; stays is 0 where it runs there already.
type placement struct {
	job         *Job
	device      Device
	left, stays float64
}

func (p *preemptive) Name() string { return "srpt" }

// order are all placements there could be: of equal time a running job where it is, then the
// earlier arrival, on its faster device.
func (p *preemptive) order(s *State, running []*Job) []placement {
	var all []placement
	for _, j := range slices.Concat(running, s.Waiting) {
		for _, d := range s.devices {
			if math.IsInf(j.Reported[d], 1) {
				continue
			}
			one := placement{j, d, j.Remaining(d, s.Now), 1}
			if j.Node != nil && j.Node.Device == d {
				one.stays = 0
			}
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b placement) int {
		return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.stays, b.stays), cmp.Compare(a.job.index, b.job.index),
			cmp.Compare(a.job.Reported[a.device], b.job.Reported[b.device]), cmp.Compare(b.device, a.device))
	})
	return all
}

// Stop decides every placement again and returns the running jobs that must move. Jobs stay on
// their node if they keep its device.
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
	placed, stays := make(map[*Job]bool), make(map[*Job]bool)
	for _, c := range p.order(s, running) {
		if placed[c.job] || room[c.device] == 0 {
			continue
		}
		placed[c.job] = true
		room[c.device]--
		if stays[c.job] = c.stays == 0; !stays[c.job] {
			p.next = append(p.next, c)
		}
	}
	slices.Reverse(p.next)
	return slices.DeleteFunc(running, func(j *Job) bool { return stays[j] })
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
