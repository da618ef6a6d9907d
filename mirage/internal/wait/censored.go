package wait

import (
	"cmp"
	"slices"
)

// observed is a job's wait on the scale of toScale: in all, or by now if it still waits.
type observed struct {
	job     int
	value   float64
	waiting bool
}

// expectWaits returns the waits of jobs, for one that still waits the expected one: its
// prediction and the mean excess of the jobs whose excess is larger than its own by now.
func expectWaits(seen []observed, predicted func(job int) float64) []float64 {
	all := make([]excess, len(seen))
	for i, w := range seen {
		all[i] = excess{w.value - predicted(w.job), w.waiting}
	}
	tails := estimateTails(slices.Clone(all))
	waits := make([]float64, len(seen))
	for i, w := range seen {
		waits[i] = w.value
		if w.waiting {
			waits[i] = predicted(w.job) + tails.beyond(all[i].value)
		}
	}
	return waits
}

// excess is the part of a wait that was not predicted.
type excess struct {
	value   float64
	waiting bool
}

// tailMeans holds the product-limit estimate of the excess (Kaplan and Meier, JASA 53,
// 1958): for each value that occurred, the mean of the values from it on.
type tailMeans struct{ values, means []float64 }

// estimateTails returns the means of the tails of some excesses, which it sorts. The
// largest takes the probability that is left.
func estimateTails(e []excess) tailMeans {
	slices.SortFunc(e, func(a, b excess) int {
		if a.value == b.value && a.waiting != b.waiting {
			if a.waiting {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.value, b.value)
	})
	var t tailMeans
	var masses []float64
	left := 1.0
	for i, x := range e {
		mass := left / float64(len(e)-i)
		if x.waiting && i+1 < len(e) {
			continue
		}
		t.values, masses = append(t.values, x.value), append(masses, mass)
		left -= mass
	}
	t.means = make([]float64, len(masses))
	sum, mass := 0.0, 0.0
	for i := len(masses) - 1; i >= 0; i-- {
		mass += masses[i]
		sum += masses[i] * t.values[i]
		t.means[i] = sum / mass
	}
	return t
}

// beyond returns the expected excess of a job whose excess is larger than a value by now.
func (t tailMeans) beyond(value float64) float64 {
	i, found := slices.BinarySearch(t.values, value)
	if found {
		i++ // it exceeds the value itself
	}
	if i >= len(t.means) {
		return value
	}
	return t.means[i]
}
