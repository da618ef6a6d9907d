package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/internal/schedule/matching"
)

// allox is the policy of AlloX (Le, Sun, Chowdhury and Liu, EuroSys 2020):
// the jobs of the least served users are matched to slots of the machines so
// that the sum of reported completion times is least, and the first job of
// each free machine starts. When nothing starts, twice as many users are
// considered.
type allox struct {
	alpha float64
	plan  *matching.Plan // kept between matches
	types int            // of machines in it
	held  map[*Job]int   // the jobs in it, by id
	job   []*Job         // by id
}

func newAlloX(s Settings) *allox {
	if s.Alpha == 0 {
		s.Alpha = 1
	}
	return &allox{alpha: s.Alpha, held: make(map[*Job]int)}
}

func (*allox) Name() string { return "allox" }

func (p *allox) Next(s *State) (*Job, *Node, bool) {
	active := s.Active()
	slices.SortStableFunc(active, func(a, b *User) int { return cmp.Compare(a.Progress, b.Progress) })
	if len(active) == 0 || !slices.ContainsFunc(s.Nodes, func(n *Node) bool { return n.Running == nil }) {
		return nil, nil, false
	}
	for alpha := p.alpha; ; alpha *= 2 {
		chosen := active[:min(int(math.Ceil(alpha*float64(len(active))-1e-9)), len(active))]
		if j, n, ok := p.match(s, chosen); ok || len(chosen) == len(active) {
			return j, n, ok
		}
	}
}

// match brings the plan up to date with the jobs of the users and returns the first
// job of a machine that is free.
func (p *allox) match(s *State, users []*User) (*Job, *Node, bool) {
	p.open(s)
	for _, n := range s.Nodes {
		ready := s.Now
		if j := n.Running; j != nil {
			ready = max(s.Now, j.Started+j.Left*j.Reported[n.Device])
		}
		must(p.plan.SetReady(int(n.Device), n.Index, ready))
	}
	jobs := jobsOf(s, users)
	p.sync(jobs)
	for _, d := range slices.Backward(s.devices) {
		for _, n := range s.Nodes {
			if n.Device != d || n.Running != nil {
				continue
			}
			if id, ok := p.plan.First(int(d), n.Index); ok && n.Fits(p.job[id]) {
				return eldest(p.job[id], jobs), n, true
			}
		}
	}
	return nil, nil, false
}

// open makes the plan of the cluster's machines.
func (p *allox) open(s *State) {
	if p.plan != nil {
		return
	}
	ready := make([][]float64, s.devices[len(s.devices)-1]+1) // none of a device without nodes
	for _, d := range s.devices {
		ready[d] = make([]float64, s.Cluster.Nodes(d))
	}
	plan, err := matching.New(ready)
	must(err)
	p.plan, p.types = plan, len(ready)
}

// sync makes the plan hold the given jobs and no others.
func (p *allox) sync(jobs []*Job) {
	wanted := make(map[*Job]bool, len(jobs))
	for _, j := range jobs {
		wanted[j] = true
	}
	for id, j := range p.job {
		if j != nil && !wanted[j] {
			p.plan.Remove(id)
			delete(p.held, j)
			p.job[id] = nil
		}
	}
	for _, j := range jobs {
		if _, held := p.held[j]; held {
			continue
		}
		id, err := p.plan.Add(j.Reported[:p.types])
		must(err)
		for id >= len(p.job) {
			p.job = append(p.job, nil)
		}
		p.held[j], p.job[id] = id, j
	}
}

// eldest returns the first of the jobs that is like j to the matching.
func eldest(j *Job, jobs []*Job) *Job {
	return jobs[slices.IndexFunc(jobs, func(k *Job) bool { return k.Reported == j.Reported })]
}

// jobsOf returns the waiting jobs of the users.
func jobsOf(s *State, users []*User) []*Job {
	if len(users) == len(s.Active()) {
		return s.Waiting
	}
	return slices.DeleteFunc(slices.Clone(s.Waiting), func(j *Job) bool { return !slices.Contains(users, j.User) })
}

// must stops on an error that checked jobs and times cannot cause.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("schedule: %v", err))
	}
}
