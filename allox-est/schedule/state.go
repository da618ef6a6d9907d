package schedule

import (
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/schedule/workload"
)

// State is the cluster as a policy sees it: no true times. A policy must not
// change it.
type State struct {
	Now     float64
	Cluster Cluster
	Waiting []*Job // in order of arrival, preempted jobs last
	Nodes   []*Node
	Users   []*User           // in order of their first job
	devices []workload.Device // those that there are nodes of, ascending
	worth   [workload.Devices]worth
	most    [workload.Devices]int // jobs that a node may hold at once
}

// Node is one machine.
type Node struct {
	Device  workload.Device
	Index   int // within the device
	Running []*Job
	used    float64
}

// User is an owner of jobs and what they hold now.
type User struct {
	Name string
	// Held is the nodes of each device that the user's running jobs take.
	Held [workload.Devices]float64
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
	// Reported is the time its estimate tells for each device, +Inf where it
	// cannot run. Left is the share of the work still to do.
	Reported [workload.Devices]float64
	Left     float64
	// Share is the part of a node it takes.
	Share [workload.Devices]float64
	// Node is where it runs since Started, or nil.
	Node    *Node
	Started float64

	index    int // in the workload
	actual   [workload.Devices]float64
	end      float64 // true time at which it ends if it keeps running
	progress float64 // its part of User.Progress
}

// Remaining returns the reported time the job still needs on a device at time
// now. A job that runs longer than reported needs none.
func (j *Job) Remaining(d workload.Device, now float64) float64 {
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
func (j *Job) Faster() workload.Device {
	best := workload.Device(0)
	for d, seconds := range j.Reported {
		if seconds <= j.Reported[best] && !math.IsInf(seconds, 1) {
			best = workload.Device(d)
		}
	}
	return best
}

// fitSlack forgives the rounding of sums of shares.
const fitSlack = 1e-9

// Fits tells whether a waiting job can start on a node now.
func (n *Node) Fits(j *Job) bool {
	return !math.IsInf(j.Reported[n.Device], 1) && n.used+j.Share[n.Device] <= 1+fitSlack
}

// Free returns the first node of a device on which the job can start now, or
// nil.
func (s *State) Free(d workload.Device, j *Job) *Node {
	if math.IsInf(j.Reported[d], 1) {
		return nil
	}
	for _, n := range s.Nodes {
		if n.Device == d && n.Fits(j) {
			return n
		}
	}
	return nil
}

// worth is the sum over jobs that have arrived of the reported time on the first
// device over that on this one.
type worth struct {
	sum  float64
	jobs int
}

// Speedup returns how many times faster a device is than the first there are
// nodes of, for the mean job that has arrived, by its reported times; 1 where no
// job tells.
func (s *State) Speedup(d workload.Device) float64 {
	if w := s.worth[d]; w.jobs > 0 {
		return w.sum / float64(w.jobs)
	}
	return 1
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
	first := j.Reported[s.devices[0]]
	for _, d := range s.devices {
		if x := j.Reported[d]; !math.IsInf(first, 1) && !math.IsInf(x, 1) {
			s.worth[d].sum += first / x
			s.worth[d].jobs++
		}
	}
}

// start puts a waiting job on a node.
func (s *State) start(j *Job, n *Node) {
	at := slices.Index(s.Waiting, j)
	s.Waiting = slices.Delete(s.Waiting, at, at+1)
	j.User.waiting--
	j.Node, j.Started = n, s.Now
	j.end = s.Now + j.Left*j.actual[n.Device]
	n.Running = append(n.Running, j)
	n.used += j.Share[n.Device]
	j.User.Held[n.Device] += j.Share[n.Device]
	j.progress = s.progress(j)
	j.User.Progress += j.progress
}

// leave takes a job off its node.
func (s *State) leave(j *Job) {
	n := j.Node
	at := slices.Index(n.Running, j)
	n.Running = slices.Delete(n.Running, at, at+1)
	n.used -= j.Share[n.Device]
	if len(n.Running) == 0 {
		n.used = 0 // drop what rounding has left
	}
	j.User.Held[n.Device] -= j.Share[n.Device]
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
	share := j.Share[best] / float64(max(s.Cluster.Nodes(best), 1))
	return share * j.Reported[best] / j.Reported[j.Node.Device]
}
