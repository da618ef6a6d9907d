package schedule

import (
	"cmp"
	"math"
	"slices"
)

// newSRPT is shortest remaining processing time with preemption: at every event
// the nodes go to the jobs and devices of the shortest reported remaining
// time, whether the jobs wait or run. It shows what a policy without fairness and
// without the price of preemption could reach.
func newSRPT() Policy { return &preemptive{name: "srpt", order: byRemaining} }

// byRemaining returns jobs with devices by ascending remaining time; of equal
// ones a running job where it is comes first, then the earlier arrival.
func byRemaining(s *State, running []*Job) []placement {
	var all []placement
	for _, d := range s.devices {
		for _, jobs := range [][]*Job{running, s.Waiting} {
			for _, j := range jobs {
				if need := j.Remaining(d, s.Now); !math.IsInf(need, 1) {
					all = append(all, placement{j, d, need})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b placement) int {
		return cmp.Or(cmp.Compare(a.need, b.need), cmp.Compare(b.stays(), a.stays()), cmp.Compare(a.job.index, b.job.index), cmp.Compare(b.device, a.device))
	})
	return all
}
