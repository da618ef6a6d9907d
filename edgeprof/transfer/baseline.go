package transfer

import (
	"cmp"
	"math"
	"slices"
)

// nearestRun takes the latency of the configuration whose anchors differ from
// these by the same factor, scaled by that factor; NaN where none has the model.
func nearestRun(t *Table, c *Config, anchors []int, model int) float64 {
	best, answer := math.Inf(1), math.NaN()
	for i := range t.Configs {
		o := &t.Configs[i]
		if math.IsNaN(o.Log[model]) {
			continue
		}
		sum, squares, n := 0.0, 0.0, 0.0
		for _, k := range anchors {
			if d := c.Log[k] - o.Log[k]; !math.IsNaN(d) {
				sum, squares, n = sum+d, squares+d*d, n+1
			}
		}
		if n < float64(len(anchors)) {
			continue
		}
		if off := squares/n - sum/n*sum/n; off < best {
			best, answer = off, o.Log[model]+sum/n
		}
	}
	return answer
}

// unknownClock is how far a clock that nothing names is taken to be away, as the
// logarithm of a factor.
const unknownClock = 1

// clockScaled takes the latency of the configuration of as many threads whose
// clock is the closest, scaled by the clocks. It looks at no anchor.
func clockScaled(t *Table, c *Config, model int) float64 {
	type one struct {
		threads, clock float64
		log            float64
	}
	var all []one
	for i := range t.Configs {
		o := &t.Configs[i]
		if math.IsNaN(o.Log[model]) {
			continue
		}
		faster := math.Log(o.Clock / c.Clock)
		if math.IsNaN(faster) {
			all = append(all, one{math.Abs(math.Log(float64(o.Threads) / float64(c.Threads))), unknownClock, o.Log[model]})
			continue
		}
		all = append(all, one{math.Abs(math.Log(float64(o.Threads) / float64(c.Threads))), math.Abs(faster), o.Log[model] + faster})
	}
	if len(all) == 0 {
		return math.NaN()
	}
	return slices.MinFunc(all, func(a, b one) int { return cmp.Or(cmp.Compare(a.threads, b.threads), cmp.Compare(a.clock, b.clock)) }).log
}
