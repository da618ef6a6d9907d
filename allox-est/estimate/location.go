package estimate

import (
	"context"
	"math"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
	"github.com/foretime/foretime/shared/stats"
)

// location is the level of the steady epochs.
type location struct {
	mean float64
	// within is the variance of mean that comes from the noise of epochs,
	// noise that of one epoch in a long sum, and withinDF how well both are
	// known.
	within, noise, withinDF float64
	// between is the variance of mean that comes from the difference between
	// runs, spread that difference itself.
	between, spread, spreadDF float64
}

// locate estimates the level of epochs that come in groups, one a run. Between
// runs the level is taken to vary as the machine's speed does; what the
// groups themselves show is added (method of moments of the one-way random
// effects model, Searle, Casella and McCulloch 1992, section 3.6). Blur is the
// standard deviation with which the sum of a group was measured.
func locate(groups [][]float64, method Method, speed prior, cutting float64) location {
	var all []float64
	var squares, balance float64
	for _, g := range groups {
		all = append(all, g...)
		m := mean(g)
		for _, x := range g {
			squares += (x - m) * (x - m)
		}
		balance += float64(len(g)) * float64(len(g))
	}
	n := float64(len(all))
	grand := mean(all)
	r := persistence(groups)
	df := 0.0
	for _, g := range groups { // what is left of the variance within a group: n-1 without persistence
		df += float64(len(g)) * (1 - varianceOfMean(len(g), r))
	}
	if df > 0 {
		squares /= df
	}
	noise, noiseDF := epochPrior.moderate(grand, squares, df*(1-r*r)/(1+r*r))
	lasting := (1 + r) / (1 - r)

	var q float64
	for _, g := range groups {
		d := mean(g) - grand
		q += float64(len(g)) * d * d
	}
	shown, shownDF := 0.0, float64(len(groups)-1)
	if shownDF > 0 {
		shown = max(0, (q-shownDF*lasting*noise)/(n-balance/n))
	}
	spread, spreadDF := speed.moderate(grand, shown, shownDF)

	if spread+noise+cutting == 0 { // a quantity that is always 0, such as the CPU time of a job that sleeps
		return location{mean: grand, withinDF: noiseDF, spreadDF: spreadDF}
	}
	var weights, level, within, between float64
	for _, g := range groups {
		own := noise*varianceOfMean(len(g), r) + cutting*cutting/float64(len(g)*len(g))
		w := 1 / (spread + own)
		weights += w
		level += w * mean(g)
		within += w * w * own
		between += w * w * spread
	}
	l := location{
		mean: level / weights, within: within / weights / weights, noise: lasting * noise, withinDF: noiseDF,
		between: between / weights / weights, spread: spread, spreadDF: spreadDF,
	}
	switch method {
	case Median:
		l.mean = stats.Median(all)
		l.within *= math.Pi / 2 // efficiency of the median under normal noise
	case Huber:
		l.mean = huber(all)
		l.within *= 1 / 0.95
	}
	return l
}

// persistence is the correlation of neighbouring epochs, taken for a first-order
// process, in [0, 0.8]. In groups as short as samples are, deviations from the
// group's own mean hide a part of it, (1+3r)/n to first order (Marriott and Pope
// 1954, Biometrika 41), which is put back with a quarter more: what hides in so few
// epochs is more often too little than too much. Where epochs differ by more than
// 3 %, so that it counts, up to 3.75/n is put back (DESIGN.md).
func persistence(groups [][]float64) float64 {
	var product, square, size, pairs, n float64
	for _, g := range groups {
		m := mean(g)
		for i, x := range g {
			square += (x - m) * (x - m)
			size += x * x
			if i > 0 {
				product += (x - m) * (g[i-1] - m)
				pairs++
			}
		}
		n += float64(len(g) * len(g))
	}
	if pairs < 6 || square <= 1e-18*size { // rounding is no noise
		return 0
	}
	r := product / square * (pairs + float64(len(groups))) / pairs
	length := n / (pairs + float64(len(groups))) // mean length of the group of an epoch
	noisy := min(1, max(0, (math.Sqrt(square/size)-0.03)/0.015))
	return min(0.8, max(0, (r+(1.25+2.5*noisy)/length)/max(0.25, 1-3/length)))
}

// varianceOfMean is the variance of the mean of n values of a first-order
// process of correlation r, as a share of that of one: 1/n without persistence.
func varianceOfMean(n int, r float64) float64 {
	v, power := 1.0, 1.0
	for k := 1; k < n; k++ {
		power *= r
		v += 2 * (1 - float64(k)/float64(n)) * power
	}
	return v / float64(n)
}

// huber is Huber's estimate of location.
func huber(xs []float64) float64 {
	m, err := linear.Huber{}.Fit(context.Background(), regression.Samples{Y: xs})
	if err != nil {
		return stats.Median(xs) // one value, or all the same
	}
	return m.Intercept
}

// trend is the relative change of an epoch from one to the next, pooled over
// groups, and its t statistic.
func trend(groups [][]float64) (slope, t float64) {
	var sxx, sxy, syy, n float64
	var all []float64
	for _, g := range groups {
		m, middle := mean(g), float64(len(g)-1)/2
		for i, y := range g {
			x := float64(i) - middle
			sxx += x * x
			sxy += x * (y - m)
			syy += (y - m) * (y - m)
		}
		n += float64(len(g) - 1)
		all = append(all, g...)
	}
	if n < 4 || sxx == 0 || syy == 0 {
		return 0, 0
	}
	b := sxy / sxx
	rest := max(0, syy-b*sxy) / (n - 1)
	if rest == 0 {
		return b / mean(all), math.Inf(1)
	}
	return b / mean(all), b / math.Sqrt(rest/sxx)
}
