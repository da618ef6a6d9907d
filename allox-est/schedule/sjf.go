package schedule

import "github.com/foretime/foretime/allox-est/schedule/workload"

// sjf starts the job and device of the shortest reported time of all waiting
// jobs and devices with a free node.
type sjf struct{}

func (sjf) Name() string { return "sjf" }

func (sjf) Next(s *State) (*Job, *Node, bool) {
	var best *Job
	var on workload.Device
	for _, d := range s.devices {
		if j := shortest(s, d, nil); j != nil && (best == nil || j.Reported[d] < best.Reported[on]) {
			best, on = j, d
		}
	}
	if best == nil {
		return nil, nil, false
	}
	return best, s.Free(on, best), true
}

// shortest returns the waiting job, of one user or of all, with the shortest
// reported time on a device that can start there now; of equal ones the one
// that waits longest.
func shortest(s *State, d workload.Device, of *User) *Job {
	room := 0.0 // the most that is free on a node
	for _, n := range s.Nodes {
		if n.Device == d {
			room = max(room, 1-n.used)
		}
	}
	if room == 0 {
		return nil
	}
	var best *Job
	for _, j := range s.Waiting {
		if (of == nil || j.User == of) && j.Share[d] <= room+fitSlack && (best == nil || j.Reported[d] < best.Reported[d]) {
			best = j
		}
	}
	if best == nil || s.Free(d, best) == nil {
		return nil
	}
	return best
}
