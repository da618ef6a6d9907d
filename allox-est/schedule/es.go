package schedule

import "slices"

// equalShare gives every device in equal parts to the users with jobs: a free
// node of a device goes to the user who holds least of that device, for the
// job that is shortest there. GPUs are given out before CPUs.
type equalShare struct{}

func (equalShare) Name() string { return "es" }

func (equalShare) Next(s *State) (*Job, *Node, bool) {
	for _, d := range slices.Backward(s.devices) {
		for _, u := range byShare(s.Active(), func(u *User) float64 { return u.Held[d] }) {
			if j := shortest(s, d, u); j != nil {
				return j, s.Free(d, j), true
			}
		}
	}
	return nil, nil, false
}
