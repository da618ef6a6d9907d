package schedule

import "math"

// State is the cluster as a policy sees it: no true times. A policy must not
// change it.
type State struct {
	Now     float64
	Waiting []*Job  // in order of arrival, preempted jobs last
	Nodes   []*Node // CPU nodes first
}

// Node is one machine.
type Node struct {
	Device  Device
	Index   int  // within the device
	Running *Job // or nil
}

// Job is a job in the cluster.
type Job struct {
	// Reported is the time of its estimate for each device, +Inf if it cannot run there. Left
	// is the share of the work still to do.
	Reported [Devices]float64
	Left     float64
	// Node is the node it runs on since Started, or nil.
	Node    *Node
	Started float64

	index  int // in the workload
	actual [Devices]float64
	end    float64 // true time at which it ends if it keeps running
	level  *vertex // of the plan of policy allox
}

// remaining returns the reported time the job still needs on a device at time
// now. A job that runs longer than reported needs none.
func (j *Job) remaining(d Device, now float64) float64 {
	left := j.Left
	if j.Node != nil {
		left -= (now - j.Started) / j.Reported[j.Node.Device]
	}
	if math.IsInf(j.Reported[d], 1) {
		return math.Inf(1)
	}
	return max(left, 0) * j.Reported[d]
}

// Free returns the first node of a device on which the job can start now, or nil.
func (s *State) Free(d Device, j *Job) *Node {
	for _, n := range s.Nodes {
		if n.Device == d && n.Running == nil && !math.IsInf(j.Reported[d], 1) {
			return n
		}
	}
	return nil
}

// running returns the running jobs in order of their nodes.
func (s *State) running() []*Job {
	var jobs []*Job
	for _, n := range s.Nodes {
		if n.Running != nil {
			jobs = append(jobs, n.Running)
		}
	}
	return jobs
}
