package samples

import (
	"fmt"
	"slices"
)

// changing are the positions in a snapshot whose changes a summary holds:
// jobs, nodes, median and greatest age of the pending; jobs, nodes, median
// wait and median elapsed time of the running.
var changing = [...]int{0, 1, 9, 11, 12, 13, 21, 26}

// spans are the times, in steps of ten minutes, over which changes and means
// are taken: one hour, six, and all but a day.
var spans = [...]int{6, 36, Steps - 1}

// SummaryColumns returns the names of the features of a summary, in order.
func SummaryColumns() []string {
	last := columns()
	names := slices.Clone(last)
	for _, s := range spans {
		for _, i := range changing {
			names = append(names, fmt.Sprintf("%s_change_%dmin", last[i], s*10))
		}
	}
	for _, s := range spans {
		for _, i := range changing[:4] {
			names = append(names, fmt.Sprintf("%s_mean_%dmin", last[i], s*10))
		}
	}
	return append(names, "pending_node_minutes", "predecessor_wait_seconds", "remaining_seconds", "service_nodes", "service_limit_minutes")
}

// Summary returns the part of a history that models learn from: the last snapshot, its
// changes, and the service jobs.
func (h *History) Summary() []float64 {
	row := func(step int) *Snapshot { return &h.Moments[step].Snapshot }
	last := row(Steps - 1)
	out := slices.Clone(last[:])
	for _, s := range spans {
		before := row(Steps - 1 - s)
		for _, i := range changing {
			out = append(out, last[i]-before[i])
		}
	}
	for _, s := range spans {
		for _, i := range changing[:4] {
			sum := 0.0
			for step := Steps - s; step < Steps; step++ {
				sum += row(step)[i]
			}
			out = append(out, sum/float64(s))
		}
	}
	limit := 0.0 // the mean of the quantiles approximates the mean limit
	for _, q := range last[2:7] {
		limit += q / 5
	}
	service := h.Service
	return append(out, last[1]*limit, h.WaitSeconds, float64(service.Limit)-h.ElapsedSeconds, float64(service.Nodes), float64(service.Limit)/60)
}
