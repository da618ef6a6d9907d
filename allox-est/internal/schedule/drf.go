package schedule

import (
	"cmp"
	"slices"
)

// drf is dominant resource fairness (Ghodsi et al., NSDI 2011): the user with
// the smallest dominant share starts a job. It does not know that devices are
// interchangeable: a job waits for the device it reports faster. Within a
// user the first job goes first, or the shortest.
type drf struct {
	name     string
	shortest bool
}

func (p drf) Name() string { return p.name }

func (p drf) Next(s *State) (*Job, *Node, bool) {
	for _, u := range byShare(s.Active(), func(u *User) float64 {
		share := 0.0
		for _, d := range s.devices {
			share = max(share, float64(u.Held[d])/float64(max(s.Cluster.Nodes(d), 1)))
		}
		return share
	}) {
		j := p.first(s, u)
		if n := s.Free(j.Faster(), j); n != nil {
			return j, n, true
		}
	}
	return nil, nil, false
}

// first returns the job that the user wants to start.
func (p drf) first(s *State, u *User) *Job {
	var best *Job
	for _, j := range s.Waiting {
		if j.User != u {
			continue
		}
		if !p.shortest {
			return j
		}
		if best == nil || j.Reported[j.Faster()] < best.Reported[best.Faster()] {
			best = j
		}
	}
	return best
}

// byShare returns the users by ascending share; equal ones keep their order.
func byShare(users []*User, share func(*User) float64) []*User {
	slices.SortStableFunc(users, func(a, b *User) int { return cmp.Compare(share(a), share(b)) })
	return users
}
