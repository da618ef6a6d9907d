package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/schedule/matching"
)

// allox is the policy of AlloX (Le, Sun, Chowdhury and Liu, EuroSys 2020):
// the jobs of the least served users are matched to slots of the machines so
// that the sum of reported completion times is least, and the first job of
// each free machine starts. When nothing starts, twice as many users are
// considered.
type allox struct {
	alpha   float64
	maxJobs int
	plans   map[string]*userPlan
}

// userPlan is the plan of the jobs of one set of users, kept between matches.
type userPlan struct {
	plan  *matching.Plan
	types int    // of machines in the plan
	held  []*Job // the jobs in the plan
	id    map[*Job]int
	job   []*Job // by id
	seen  []int  // by Job.index: the last sync that named the job
	turn  int    // number of this sync
}

// mostPlans bounds the sets of users whose plans are kept.
const mostPlans = 64

func newAlloX(s Settings) *allox {
	if s.Alpha == 0 {
		s.Alpha = 1
	}
	return &allox{alpha: s.Alpha, maxJobs: s.MaxJobs, plans: make(map[string]*userPlan)}
}

func (*allox) Name() string { return "allox" }

func (p *allox) Next(s *State) (*Job, *Node, bool) {
	active := byShare(s.Active(), func(u *User) float64 { return u.Progress })
	if len(active) == 0 || !anyRoom(s) {
		return nil, nil, false
	}
	for alpha := p.alpha; ; alpha *= 2 {
		chosen := active[:min(int(math.Ceil(alpha*float64(len(active))-1e-9)), len(active))]
		if j, n, ok := p.match(s, chosen); ok || len(chosen) == len(active) {
			return j, n, ok
		}
	}
}

func anyRoom(s *State) bool {
	return slices.ContainsFunc(s.Nodes, func(n *Node) bool { return n.Running == nil })
}

// match brings the plan of the users up to date and returns the first job of
// a machine that is free.
func (p *allox) match(s *State, users []*User) (*Job, *Node, bool) {
	up := p.planOf(s, users)
	for _, n := range s.Nodes {
		ready := s.Now
		if j := n.Running; j != nil {
			ready = max(s.Now, j.Started+j.Left*j.Reported[n.Device])
		}
		must(up.plan.SetReady(int(n.Device), n.Index, ready))
	}
	jobs := p.limit(s, users)
	up.sync(jobs)
	for _, d := range slices.Backward(s.devices) {
		for _, n := range s.Nodes {
			if n.Device != d || n.Running != nil {
				continue
			}
			if id, ok := up.plan.First(int(d), n.Index); ok && n.Fits(up.job[id]) {
				return eldest(up.job[id], jobs), n, true
			}
		}
	}
	return nil, nil, false
}

// eldest returns the first of the jobs that is like j to the matching.
func eldest(j *Job, jobs []*Job) *Job {
	return jobs[slices.IndexFunc(jobs, func(k *Job) bool { return k.Reported == j.Reported })]
}

// planOf returns the plan kept for a set of users.
func (p *allox) planOf(s *State, users []*User) *userPlan {
	in := make(map[*User]bool, len(users))
	for _, u := range users {
		in[u] = true
	}
	key := make([]byte, len(s.Users))
	for i, u := range s.Users {
		if in[u] {
			key[i] = 1
		}
	}
	if len(users) == len(s.Active()) {
		key = nil // all there are, whoever they are
	}
	if up := p.plans[string(key)]; up != nil {
		return up
	}
	if len(p.plans) >= mostPlans {
		clear(p.plans)
	}
	ready := make([][]float64, s.devices[len(s.devices)-1]+1) // none of a device without nodes
	for _, d := range s.devices {
		ready[d] = make([]float64, s.Cluster.Nodes(d))
	}
	plan, err := matching.New(ready)
	must(err)
	up := &userPlan{plan: plan, types: len(ready), id: make(map[*Job]int)}
	p.plans[string(key)] = up
	return up
}

// sync makes the plan hold the given jobs and no others.
func (up *userPlan) sync(jobs []*Job) {
	up.turn++
	var added []*Job
	for _, j := range jobs {
		for j.index >= len(up.seen) {
			up.seen = append(up.seen, 0)
		}
		if up.seen[j.index] != up.turn-1 || up.turn == 1 {
			added = append(added, j)
		}
		up.seen[j.index] = up.turn
	}
	up.held = slices.DeleteFunc(up.held, func(j *Job) bool {
		if up.seen[j.index] == up.turn {
			return false
		}
		up.plan.Remove(up.id[j])
		delete(up.id, j)
		return true
	})
	for _, j := range added {
		id, err := up.plan.Add(j.Reported[:up.types])
		must(err)
		for id >= len(up.job) {
			up.job = append(up.job, nil)
		}
		up.id[j], up.job[id] = id, j
		up.held = append(up.held, j)
	}
}

// limit returns the waiting jobs of the users: all, or alternately the
// shortest on a GPU and the shortest on a CPU until there are maxJobs.
func (p *allox) limit(s *State, users []*User) []*Job {
	jobs := s.Waiting
	if len(users) < len(s.Active()) {
		jobs = nil
		for _, j := range s.Waiting {
			if slices.Contains(users, j.User) {
				jobs = append(jobs, j)
			}
		}
	}
	if p.maxJobs == 0 || len(jobs) <= p.maxJobs {
		return jobs
	}
	var order [Devices][]*Job
	for _, d := range s.devices {
		order[d] = slices.Clone(jobs)
		slices.SortStableFunc(order[d], func(a, b *Job) int { return cmp.Compare(a.Reported[d], b.Reported[d]) })
	}
	taken := make(map[*Job]bool)
	jobs = nil
	for i := 0; len(jobs) < p.maxJobs; i++ {
		for _, d := range slices.Backward(s.devices) {
			if j := order[d][i]; !taken[j] && len(jobs) < p.maxJobs {
				taken[j] = true
				jobs = append(jobs, j)
			}
		}
	}
	slices.SortFunc(jobs, func(a, b *Job) int { return cmp.Compare(a.index, b.index) })
	return jobs
}

// must stops on an error that checked jobs and times cannot cause.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("schedule: %v", err))
	}
}
