package schedule

import (
	"cmp"
	"math"
	"slices"
)

// newMaxMin is max-min fairness over devices of different speed with moving jobs,
// as the heterogeneity-aware policy of Gavel (Narayanan et al., OSDI 2020, section
// 4.1) without its rounds: at every event the nodes go to the jobs that have got
// least since they arrived, of the work that they would have done on their fastest
// device, each on the fastest that is left.
func newMaxMin() Policy { return &preemptive{name: "max-min", order: byService} }

func byService(s *State, running []*Job) []placement {
	var all []placement
	for _, jobs := range [][]*Job{running, s.Waiting} {
		for _, j := range jobs {
			for _, d := range s.devices {
				if !math.IsInf(j.Reported[d], 1) {
					all = append(all, placement{j, d, j.served(s.Now)})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placement) int {
		return cmp.Or(cmp.Compare(a.need, b.need), cmp.Compare(a.job.index, b.job.index), cmp.Compare(a.job.Reported[a.device], b.job.Reported[b.device]), cmp.Compare(b.stays(), a.stays()))
	})
	return all
}

// served is the share of its time in the cluster that a job has computed, in
// seconds of its fastest device; 0 at its arrival.
func (j *Job) served(now float64) float64 {
	if now <= j.Arrival {
		return 0
	}
	fastest := j.Faster()
	return (j.Reported[fastest] - j.Remaining(fastest, now)) / (now - j.Arrival)
}
