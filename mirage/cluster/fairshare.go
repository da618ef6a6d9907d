package cluster

import "math"

// sharePeriod is how often fair shares are computed, in seconds: Slurm's
// PriorityCalcPeriod.
const sharePeriod = 300

// Usage is the decayed use that each user has made of the machine, in
// node-seconds, and the fair-share points that follow from it.
type Usage struct {
	weight  float64
	half    float64 // seconds
	used    []float64
	nodes   []int32 // held now
	seen    []bool
	users   int
	last    int64
	started bool
}

// NewUsage returns the usage of so many users, or nil where the rules give
// fair share no weight. A nil Usage does nothing.
func NewUsage(r *Rules, users int) *Usage {
	if r.Weights.FairShare == 0 {
		return nil
	}
	return &Usage{
		weight: r.Weights.FairShare, half: r.Weights.HalfLifeDays * 86400,
		used: make([]float64, users), nodes: make([]int32, users), seen: make([]bool, users),
	}
}

// Clone returns an independent copy.
func (u *Usage) Clone() *Usage {
	if u == nil {
		return nil
	}
	c := *u
	c.used = append([]float64(nil), u.used...)
	c.nodes = append([]int32(nil), u.nodes...)
	c.seen = append([]bool(nil), u.seen...)
	return &c
}

// Submitted makes a user known; users count from their first submission.
func (u *Usage) Submitted(user int32) {
	if u == nil {
		return
	}
	for int(user) >= len(u.used) {
		u.used, u.nodes, u.seen = append(u.used, 0), append(u.nodes, 0), append(u.seen, false)
	}
	if !u.seen[user] {
		u.seen[user] = true
		u.users++
	}
}

// Started counts nodes as held from now on.
func (u *Usage) Started(user, nodes int32, now int64) {
	if u == nil {
		return
	}
	u.used[user] -= float64(nodes) * float64(now-u.last)
	u.nodes[user] += nodes
}

// Ended counts nodes as held no longer.
func (u *Usage) Ended(user, nodes int32, now int64) {
	if u == nil {
		return
	}
	u.used[user] += float64(nodes) * float64(now-u.last)
	u.nodes[user] -= nodes
}

// Due reports whether the shares are to be computed anew.
func (u *Usage) Due(now int64) bool {
	return u != nil && (!u.started || now-u.last >= sharePeriod)
}

// Update brings the usage up to now and returns the points of each user:
// weight times 2^-(U/S), U the user's part of all usage and S the part of each
// if all were equal (the classic fair-share formula of Slurm's multifactor
// priority plugin).
func (u *Usage) Update(now int64) func(user int32) float64 {
	if !u.started {
		u.last, u.started = now, true
	}
	dt := float64(now - u.last)
	decay := math.Exp2(-dt / u.half)
	total := 0.0
	for i := range u.used {
		u.used[i] = (u.used[i] + float64(u.nodes[i])*dt) * decay
		total += u.used[i]
	}
	u.last = now
	return func(user int32) float64 {
		if total <= 0 {
			return u.weight
		}
		return u.weight * math.Exp2(-u.used[user]/total*float64(u.users))
	}
}
