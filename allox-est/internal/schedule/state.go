package schedule

import (
	"math"
	"slices"
)

// State is the cluster as a policy sees it: no true times. A policy must not
// change it.
type State struct {
	Now     float64
	Cluster Cluster
	Waiting []*Job // in order of arrival, preempted jobs last
	Nodes   []*Node
	Users   []*User  // in order of their first job
	devices []Device // those that there are nodes of, ascending
}

// Node is one machine.
type Node struct {
	Device  Device
	Index   int  // within the device
	Running *Job // or nil
}

// User is an owner of jobs and what they hold now.
type User struct {
	Name string
	// Progress is the sum over the user's running jobs of the share of the
	// cluster they hold on their faster device, or of what the slower device
	// is worth to them: AlloX's measure of fairness.
	Progress float64
	waiting  int
}

// Job is a job in the cluster.
type Job struct {
	ID      int
	User    *User
	Arrival float64
	// Reported is the time of its estimate for each device, +Inf if it cannot run there. Left
	// is the share of the work still to do.
	Reported [Devices]float64
	Left     float64
	// Node is the node it runs on since Started, or nil.
	Node    *Node
	Started float64

	index    int // in the workload
	actual   [Devices]float64
	end      float64 // true time at which it ends if it keeps running
	progress float64 // its part of User.Progress
}

// Remaining returns the reported time the job still needs on a device at time
// now. A job that runs longer than reported needs none.
func (j *Job) Remaining(d Device, now float64) float64 {
	left := j.Left
	if j.Node != nil {
		left -= (now - j.Started) / j.Reported[j.Node.Device]
	}
	if math.IsInf(j.Reported[d], 1) {
		return math.Inf(1)
	}
	return max(left, 0) * j.Reported[d]
}

// Faster returns the device on which the job reports the shortest time; of equal
// ones the last, as the GPU is after the CPU.
func (j *Job) Faster() Device {
	best := Device(0)
	for d, seconds := range j.Reported {
		if seconds <= j.Reported[best] && !math.IsInf(seconds, 1) {
			best = Device(d)
		}
	}
	return best
}

// Fits reports whether a waiting job can start on a node now.
func (n *Node) Fits(j *Job) bool {
	return n.Running == nil && !math.IsInf(j.Reported[n.Device], 1)
}

// Free returns the first node of a device on which the job can start now, or
// nil.
func (s *State) Free(d Device, j *Job) *Node {
	if at := slices.IndexFunc(s.Nodes, func(n *Node) bool { return n.Device == d && n.Fits(j) }); at >= 0 {
		return s.Nodes[at]
	}
	return nil
}

// Active returns the users who have jobs waiting.
func (s *State) Active() []*User {
	var users []*User
	for _, u := range s.Users {
		if u.waiting > 0 {
			users = append(users, u)
		}
	}
	return users
}

// arrive lets a job wait.
func (s *State) arrive(j *Job) {
	s.Waiting = append(s.Waiting, j)
	j.User.waiting++
}

// start puts a waiting job on a node.
func (s *State) start(j *Job, n *Node) {
	at := slices.Index(s.Waiting, j)
	s.Waiting = slices.Delete(s.Waiting, at, at+1)
	j.User.waiting--
	j.Node, j.Started = n, s.Now
	j.end = s.Now + j.Left*j.actual[n.Device]
	n.Running = j
	j.progress = s.progress(j)
	j.User.Progress += j.progress
}

// leave takes a job off its node.
func (s *State) leave(j *Job) {
	n := j.Node
	n.Running = nil
	j.User.Progress -= j.progress
	j.Node = nil
}

// stop sends a running job back to wait with the rest of its work.
func (s *State) stop(j *Job) {
	j.Left = max(j.Left-(s.Now-j.Started)/j.actual[j.Node.Device], 0)
	s.leave(j)
	s.Waiting = append(s.Waiting, j)
	j.User.waiting++
}

// progress is the part of User.Progress that a running job adds: the share of
// the cluster that it takes on its faster device, times how fast it is where
// it runs relative to there.
func (s *State) progress(j *Job) float64 {
	best := j.Faster()
	share := 1 / float64(max(s.Cluster.Nodes(best), 1))
	return share * j.Reported[best] / j.Reported[j.Node.Device]
}
