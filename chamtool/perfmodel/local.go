package perfmodel

import (
	"math"
	"slices"
)

const (
	// window is how many of the last runs the local model stands on.
	window = 4096
	// knotsMost bounds the table that answers; between knots it interpolates.
	knotsMost = 128
	// neighboursMost is the most runs that one knot looks at.
	neighboursMost = 121
	// middle is the quantile that serves. A relative error counts an answer
	// that is too high in full and one that is too low as at most 1, so the
	// answer that keeps it small lies a little under the median.
	middle = 0.475
)

// sample is one run in the window.
type sample struct {
	at    float64 // the power law's logarithm for its sizes
	y     float64 // the logarithm of its seconds
	f     *Footprint
	order uint64 // when it was observed
}

// localLaw is a table of how far runs lay from the power law, by the place
// along it. Both are logarithms.
type localLaw struct {
	at, off []float64
}

// fitLocal fits to samples that are sorted by their place.
func fitLocal(sorted []sample) localLaw {
	n := len(sorted)
	if n == 0 {
		return localLaw{}
	}
	neighbours := min(neighboursMost, max(7, n/20), n)
	low, high := math.Inf(1), math.Inf(-1)
	for i := range sorted {
		r := sorted[i].y - sorted[i].at
		low, high = math.Min(low, r), math.Max(high, r)
	}
	var l localLaw
	h := histogram{low: low, step: (high - low) / histogramBins}
	knots := min(knotsMost, n)
	for k := range knots {
		i := n / 2
		if knots > 1 {
			i = k * (n - 1) / (knots - 1)
		}
		at := sorted[i].at
		if len(l.at) > 0 && at <= l.at[len(l.at)-1] {
			continue
		}
		l.at = append(l.at, at)
		l.off = append(l.off, h.middle(nearest(sorted, i, neighbours), at))
	}
	return l
}

// nearest is the stretch of n sorted samples nearest to the i-th.
func nearest(sorted []sample, i, n int) []sample {
	at := sorted[i].at
	from, to := i, i+1
	for to-from < n {
		if to == len(sorted) || from > 0 && at-sorted[from-1].at <= sorted[to].at-at {
			from--
		} else {
			to++
		}
	}
	return sorted[from:to]
}

const histogramBins = 512

// histogram finds weighted quantiles of residuals without sorting them.
type histogram struct {
	low, step float64
	bins      [histogramBins + 1]float64
}

// middle is the quantile of the samples' residuals, each weighted by how near
// it is to the place.
func (h *histogram) middle(samples []sample, at float64) float64 {
	if h.step <= 0 {
		return h.low
	}
	reach := math.Max(at-samples[0].at, samples[len(samples)-1].at-at)*1.0001 + 1e-12
	clear(h.bins[:])
	sum := 0.0
	for i := range samples {
		w := 1 - math.Abs(samples[i].at-at)/reach + 1e-9
		bin := min(int((samples[i].y-samples[i].at-h.low)/h.step), histogramBins-1)
		h.bins[max(bin, 0)] += w
		sum += w
	}
	target, below := middle*sum, 0.0
	for i, w := range h.bins {
		if w > 0 && below+w >= target {
			return h.low + (float64(i)+0.5)*h.step
		}
		below += w
	}
	return h.low
}

// log is the offset at a place, straight between the knots and constant
// beyond them.
func (l *localLaw) log(at float64) float64 {
	n := len(l.at)
	switch {
	case n == 0:
		return 0
	case at <= l.at[0]:
		return l.off[0]
	case at >= l.at[n-1]:
		return l.off[n-1]
	}
	i, _ := slices.BinarySearch(l.at, at)
	if i == 0 {
		return l.off[0]
	}
	share := (at - l.at[i-1]) / (l.at[i] - l.at[i-1])
	return l.off[i-1] + share*(l.off[i]-l.off[i-1])
}
