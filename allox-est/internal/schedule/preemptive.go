package schedule

import (
	"cmp"
	"math"
	"slices"
)

// preemptive is a policy that places all jobs anew at every event, those that
// run too. A job keeps its work when it is stopped or moved, at no cost. What has
// the least need goes first: of srpt the shortest reported remaining time on a
// device, which shows what could be reached without fairness and without the price of
// preemption; of max-min, as the heterogeneity-aware policy of Gavel (Narayanan et
// al., OSDI 2020, section 4.1) without its rounds, what a job has got since it
// arrived of the work that it would have done on its fastest device.
type preemptive struct {
	name   string
	need   func(j *Job, d Device, now float64) float64
	sticky bool        // of equal need a running job where it is goes first
	next   []placement // decided by Stop, in reverse
}

// placement is a job on a device; stays is 0 where it runs there already.
type placement struct {
	job         *Job
	device      Device
	need, stays float64
}

func (p *preemptive) Name() string { return p.name }

// order are all placements there could be: of equal need the earlier arrival first,
// on its faster device.
func (p *preemptive) order(s *State, running []*Job) []placement {
	var all []placement
	for _, j := range slices.Concat(running, s.Waiting) {
		for _, d := range s.devices {
			if math.IsInf(j.Reported[d], 1) {
				continue
			}
			one := placement{j, d, p.need(j, d, s.Now), 1}
			if j.Node != nil && j.Node.Device == d {
				one.stays = 0
			}
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b placement) int {
		first := cmp.Compare(a.need, b.need)
		if p.sticky {
			first = cmp.Or(first, cmp.Compare(a.stays, b.stays))
		}
		return cmp.Or(first, cmp.Compare(a.job.index, b.job.index), cmp.Compare(a.job.Reported[a.device], b.job.Reported[b.device]),
			cmp.Compare(a.stays, b.stays), cmp.Compare(b.device, a.device))
	})
	return all
}

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

// served is the share of its time in the cluster that a job has computed, in
// seconds of its fastest device; 0 at its arrival.
func (j *Job) served(_ Device, now float64) float64 {
	if now <= j.Arrival {
		return 0
	}
	fastest := j.Faster()
	return (j.Reported[fastest] - j.Remaining(fastest, now)) / (now - j.Arrival)
}
