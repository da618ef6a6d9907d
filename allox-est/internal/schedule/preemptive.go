package schedule

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// preemptive is a policy that places all jobs again at every event, including running ones: the
// shortest reported remaining time on a device goes first. A job keeps its work when it is
// stopped or moved, at no cost. It shows what could be reached without the price of preemption.
type preemptive struct {
	next []placement // decided by Stop, in order
}

// placement is a job on a device; moves is 0 where it runs there already.
type placement struct {
	job    *Job
	device Device
	left   float64
	moves  int
}

// Stop decides every placement again and returns the running jobs that must move: of equal
// time a running job goes first where it is, then the earlier arrival, on its faster device.
// Jobs stay on their node if they keep its device.
func (p *preemptive) Stop(s *State) []*Job {
	running := s.running()
	var all []placement
	for _, j := range slices.Concat(running, s.Waiting) {
		for d := range Device(Devices) {
			one := placement{j, d, j.remaining(d, s.Now), 1}
			if j.Node != nil && j.Node.Device == d {
				one.moves = 0
			}
			if !math.IsInf(one.left, 1) {
				all = append(all, one)
			}
		}
	}
	slices.SortFunc(all, func(a, b placement) int {
		return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.moves, b.moves), cmp.Compare(a.job.index, b.job.index),
			cmp.Compare(a.job.Reported[a.device], b.job.Reported[b.device]), cmp.Compare(b.device, a.device))
	})
	var room [Devices]int
	for _, n := range s.Nodes {
		room[n.Device]++
	}
	p.next = nil
	stays := map[*Job]bool{} // of the jobs that are placed
	for _, c := range all {
		if _, placed := stays[c.job]; placed || room[c.device] == 0 {
			continue
		}
		room[c.device]--
		if stays[c.job] = c.moves == 0; !stays[c.job] {
			p.next = append(p.next, c)
		}
	}
	return slices.DeleteFunc(running, func(j *Job) bool { return stays[j] })
}

// Next carries out what Stop decided.
func (p *preemptive) Next(_ context.Context, s *State) (*Job, *Node) {
	if len(p.next) == 0 {
		return nil, nil
	}
	c := p.next[0]
	p.next = p.next[1:]
	return c.job, s.Free(c.device, c.job)
}
