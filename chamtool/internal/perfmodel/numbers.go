package perfmodel

import "slices"

// recentRuns is the number of values in a median, such as the runs of one footprint: the
// best of 15, 31 and 63, whichever log was left out.
const recentRuns = 31

// numbers are the last that came, recent at most.
type numbers struct {
	order  []float32 // as they came
	sorted []float32
}

// add takes a number, in the place of the oldest where there are enough.
func (n *numbers) add(x float32) {
	at := len(n.order)
	if at < recentRuns {
		n.order, n.sorted = append(n.order, x), append(n.sorted, x)
	} else {
		at = 0
		for n.sorted[at] < n.order[0] {
			at++
		}
		n.order = append(n.order[:0], n.order[1:]...)
		n.order = append(n.order, x)
	}
	for ; at > 0 && n.sorted[at-1] > x; at-- {
		n.sorted[at] = n.sorted[at-1]
	}
	for ; at+1 < len(n.sorted) && n.sorted[at+1] < x; at++ {
		n.sorted[at] = n.sorted[at+1]
	}
	n.sorted[at] = x
}

// keep drops all but the last.
func (n *numbers) keep(last int) {
	n.order = append(n.order[:0], n.order[len(n.order)-last:]...)
	n.sorted = append(n.sorted[:0], n.order...)
	slices.Sort(n.sorted)
}

// middle returns the median; there is one.
func (n *numbers) middle() float64 {
	k := len(n.sorted)
	return float64(n.sorted[(k-1)/2]+n.sorted[k/2]) / 2
}
