package schedule

import "github.com/foretime/foretime/allox-est/schedule/workload"

// drfe is DRF extended to interchangeable devices: GPU nodes count as many
// CPU nodes as the mean speed-up says, and the user with the smallest share of
// that one virtual resource starts the job that is shortest on a GPU, or,
// where none is free, on a CPU.
type drfe struct{}

func (drfe) Name() string { return "drfe" }

func (drfe) Next(s *State) (*Job, *Node, bool) {
	worth := s.Speedup()
	for _, u := range byShare(s.Active(), func(u *User) float64 {
		return u.Held[workload.CPU] + worth*u.Held[workload.GPU]
	}) {
		for _, d := range []workload.Device{workload.GPU, workload.CPU} {
			if j := shortest(s, d, u); j != nil {
				return j, s.Free(d, j), true
			}
		}
	}
	return nil, nil, false
}
