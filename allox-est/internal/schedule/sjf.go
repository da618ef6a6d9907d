package schedule

import "context"

// sjf starts the job and device of the shortest reported time of all waiting
// jobs and devices with a free node; of equal ones the job that waits longest.
type sjf struct{}

func (sjf) Next(_ context.Context, s *State) (best *Job, on *Node) {
	for d := range Device(Devices) {
		for _, j := range s.Waiting {
			if n := s.Free(d, j); n != nil && (best == nil || j.Reported[d] < best.Reported[on.Device]) {
				best, on = j, n
			}
		}
	}
	return best, on
}
