package schedule

import "slices"

// drfe is DRF extended to interchangeable devices: GPU nodes count as many
// CPU nodes as the mean speed-up says, and the user with the smallest share of
// that one virtual resource starts the job that is shortest on a GPU, or,
// where none is free, on a CPU.
type drfe struct{}

func (drfe) Name() string { return "drfe" }

func (drfe) Next(s *State) (*Job, *Node, bool) {
	for _, u := range byShare(s.Active(), func(u *User) float64 {
		held := 0.0
		for _, d := range s.devices {
			held += s.Speedup(d) * u.Held[d]
		}
		return held
	}) {
		for _, d := range slices.Backward(s.devices) {
			if j := shortest(s, d, u); j != nil {
				return j, s.Free(d, j), true
			}
		}
	}
	return nil, nil, false
}
