package schedule

import (
	"cmp"
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/schedule/workload"
)

// srpt is shortest remaining processing time with preemption: at every event
// the nodes go to the jobs and devices of the shortest reported remaining
// time, whether the jobs wait or run. A job keeps its work when it is stopped
// or moved, at no cost. It shows what a policy without fairness and without
// the price of preemption could reach.
type srpt struct {
	next []placement // decided by Stop, in reverse
}

type placement struct {
	job    *Job
	device workload.Device
	need   float64
}

func (*srpt) Name() string { return "srpt" }

// Stop decides every placement anew and returns the running jobs that are not
// to stay where they are. Jobs stay on their node if they keep its device.
func (p *srpt) Stop(s *State) []*Job {
	p.next = p.next[:0]
	var running []*Job
	for _, n := range s.Nodes {
		running = append(running, n.Running...)
	}
	room := [workload.Devices]float64{float64(s.Cluster.CPUNodes), float64(s.Cluster.GPUNodes)}
	placed := make(map[*Job]bool)
	stays := make(map[*Job]bool)
	for _, c := range candidates(s, running) {
		share := c.job.Share[c.device]
		if placed[c.job] || share > room[c.device]+fitSlack {
			continue
		}
		placed[c.job] = true
		room[c.device] -= share
		if c.stays() == 1 {
			stays[c.job] = true
		} else {
			p.next = append(p.next, c)
		}
	}
	slices.Reverse(p.next)
	return slices.DeleteFunc(running, func(j *Job) bool { return stays[j] })
}

// candidates returns jobs with devices by ascending remaining time; of equal
// ones a running job where it is comes first, then the earlier arrival.
func candidates(s *State, running []*Job) []placement {
	var all []placement
	for d := range workload.Device(workload.Devices) {
		for _, jobs := range [][]*Job{running, s.Waiting} {
			for _, j := range jobs {
				if need := j.Remaining(d, s.Now); !math.IsInf(need, 1) {
					all = append(all, placement{j, d, need})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b placement) int {
		return cmp.Or(cmp.Compare(a.need, b.need), cmp.Compare(b.stays(), a.stays()), cmp.Compare(a.job.index, b.job.index), cmp.Compare(b.device, a.device))
	})
	return all
}

// stays is 1 for a running job on its own device.
func (c placement) stays() int {
	if c.job.Node != nil && c.job.Node.Device == c.device {
		return 1
	}
	return 0
}

// Next carries out what Stop decided.
func (p *srpt) Next(s *State) (*Job, *Node, bool) {
	for len(p.next) > 0 {
		c := p.next[len(p.next)-1]
		p.next = p.next[:len(p.next)-1]
		if n := s.Free(c.device, c.job); n != nil {
			return c.job, n, true
		}
	}
	return nil, nil, false
}
