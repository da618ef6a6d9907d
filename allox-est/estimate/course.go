package estimate

import (
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// course is what the laps show of how a job goes.
type course struct {
	warm     int      // laps of warm-up
	out      [][]bool // by run and lap: it stands out
	outliers int
	patterns []pattern // that agree with those; none where there are none
	named    []named   // costs whose period is known
	slope    float64   // of a unit's time along the run, relative, by unit; 0 without a trend
	slopeSD  float64   // its standard error, relative to it
	steps    float64   // the highest level seen in the laps over the lowest
}

// pattern is a belief about when laps stand out: those that hold a unit whose
// number leaves the remainder offset, or, without a period, at random.
type pattern struct {
	period, offset int
	weight         float64
}

// holds says that a lap has a unit of the pattern.
func (p pattern) holds(l lap) bool { return p.among(l.from, l.to) > 0 }

// among is how many units of the pattern lie after the first from, up to to.
func (p pattern) among(from, to float64) float64 { return p.upTo(to) - p.upTo(from) }

func (p pattern) upTo(n float64) float64 {
	if p.offset == 0 {
		return max(0, math.Floor(n/float64(p.period)))
	}
	return max(0, math.Floor((n-float64(p.offset))/float64(p.period))+1)
}

// look finds the warm-up, the laps that stand out after it and when they may come
// again. A job that evaluates in epochs 1, 1+p, 1+2p... begins with one that looks
// like warm-up and comes again.
func look(ts []trace, every map[string]int) course {
	c := course{named: namesOf(ts, every)}
	c.mark(ts, c.warmUp(ts))
	if c.warm == 1 && len(c.named) == 0 {
		z := course{}
		z.mark(ts, 0)
		if len(z.patterns) > 0 && z.patterns[0].weight > 0.5 && z.patterns[0].period > 0 && z.patterns[0].offset == 1 && z.alike(ts) {
			c = z
		}
	}
	c.slope, c.slopeSD = c.trend(ts)
	c.steps = c.levels(ts)
	return c
}

// steady calls visit with each lap after the warm-up.
func (c *course) steady(ts []trace, visit func(run, i int, l lap)) {
	for run, t := range ts {
		for i := min(c.warm, len(t.laps)); i < len(t.laps); i++ {
			visit(run, i, t.laps[i])
		}
	}
}

// plain calls visit with the laps that have no cost beside the units' own.
func (c *course) plain(ts []trace, visit func(run, i int, l lap)) {
	c.steady(ts, func(run, i int, l lap) {
		if !c.out[run][i] && !c.hasNamed(l) {
			visit(run, i, l)
		}
	})
}

func (c *course) hasNamed(l lap) bool {
	return slices.ContainsFunc(c.named, func(n named) bool { return n.holds(l) })
}

// warmUp returns how many laps at the start take longer than those of the later
// half of the samples. Taking a lap for warm-up that is none costs a little data;
// the other way round it costs a bias.
func (c *course) warmUp(ts []trace) int {
	var late []float64
	longest := 0
	for _, t := range ts {
		longest = max(longest, len(t.laps))
	}
	for _, t := range ts { // a run that ends where others begin to settle says nothing of the level
		for i := max(len(t.laps)/2, min(2, longest/2)); i < len(t.laps); i++ {
			if !c.hasNamed(t.laps[i]) {
				late = append(late, t.laps[i].rate(quietTime))
			}
		}
	}
	if len(late) == 0 {
		return 0
	}
	usual := stats.Median(late)
	if usual <= 0 {
		return 0 // the marks are finer than the clock
	}
	noise := max(0.02, deviation(late)/usual)
	warm := 0
	for ; warm < longest-1; warm++ {
		var here []float64
		for _, t := range ts {
			if len(t.laps) > warm && !c.hasNamed(t.laps[warm]) {
				here = append(here, t.laps[warm].rate(quietTime))
			}
		}
		if len(here) == 0 || mean(here) <= usual*(1+max(0.1, 2*noise/math.Sqrt(float64(len(here))))) {
			break
		}
	}
	if longest > 2 && warm > longest/2 {
		return 0 // it never settles: that is a trend
	}
	return warm
}

// mark finds the laps that stand out after a warm-up.
func (c *course) mark(ts []trace, warm int) {
	c.warm, c.out, c.outliers = warm, nil, 0
	for _, t := range ts {
		c.out = append(c.out, make([]bool, len(t.laps)))
	}
	var rates []float64
	c.plain(ts, func(_, _ int, l lap) { rates = append(rates, l.rate(quietTime)) })
	if len(rates) < 4 {
		return
	}
	m := stats.Median(rates)
	limit := m + max(5*max(deviation(rates), 0.01*m), 0.3*m)
	var within, beyond []lap
	c.plain(ts, func(run, i int, l lap) {
		if l.rate(quietTime) <= limit {
			within = append(within, l)
			return
		}
		beyond = append(beyond, l)
		c.out[run][i] = true
	})
	c.outliers = len(beyond)
	if c.outliers > 0 {
		c.patterns = patterns(within, beyond)
	}
}

// patterns are the beliefs about when laps stand out that agree with those that do
// and those that do not, by their weight: Bayes' rule, with periods as likely as
// none, a period's odds falling with its length, and remainders of 0 and 1 (a loop
// that counts from 1 or from 0) before others. Without a period laps stand out at
// random, at a rate about which nothing is known (Jeffreys' prior).
func patterns(within, beyond []lap) []pattern {
	last := 0.0
	for _, l := range append(slices.Clone(within), beyond...) {
		last = max(last, l.to)
	}
	longest := int(min(last, 500))
	scale := 0.0
	for p := 2; p <= longest; p++ {
		scale += 1 / float64(p)
	}
	k, n := float64(len(beyond)), float64(len(beyond)+len(within))
	found := []pattern{{weight: math.Exp(lbeta(k+0.5, n-k+0.5) - lbeta(0.5, 0.5))}}
	for p := 2; p <= longest; p++ {
		for o := range p {
			odds := 0.45
			if o > 1 {
				odds = 0.1 / float64(p-2)
			}
			one := pattern{period: p, offset: o, weight: odds / float64(p) / scale}
			if agrees(one, within, beyond) {
				found = append(found, one)
			}
		}
	}
	sum := 0.0
	for _, f := range found {
		sum += f.weight
	}
	for i := range found {
		found[i].weight /= sum
	}
	slices.SortStableFunc(found, func(a, b pattern) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	return found
}

func agrees(p pattern, within, beyond []lap) bool {
	return !slices.ContainsFunc(beyond, func(l lap) bool { return !p.holds(l) }) && !slices.ContainsFunc(within, p.holds)
}

func lbeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}

// alike says that the laps that stand out differ by less than a half in what they
// cost above the others.
func (c *course) alike(ts []trace) bool {
	least, most := math.Inf(1), 0.0
	var plain []float64
	c.steady(ts, func(run, i int, l lap) {
		if x := l.rate(quietTime); c.out[run][i] {
			least, most = min(least, x), max(most, x)
		} else {
			plain = append(plain, x)
		}
	})
	usual := stats.Median(plain)
	return most-usual < 1.5*(least-usual)
}

// trend is the relative change of a unit's time from one unit to the next, pooled
// over runs, where it explains most of what differs; else 0.
func (c *course) trend(ts []trace) (slope, relative float64) {
	var sxx, sxy, syy, level, n float64
	groups := make([][][2]float64, len(ts))
	c.plain(ts, func(run, _ int, l lap) {
		groups[run] = append(groups[run], [2]float64{(l.from + l.to) / 2, l.rate(quietTime)})
	})
	df := -1.0
	for _, g := range groups {
		if len(g) < 2 {
			continue
		}
		var mx, my float64
		for _, p := range g {
			mx, my, level = mx+p[0]/float64(len(g)), my+p[1]/float64(len(g)), level+p[1]
		}
		for _, p := range g {
			sxx += (p[0] - mx) * (p[0] - mx)
			sxy += (p[0] - mx) * (p[1] - my)
			syy += (p[1] - my) * (p[1] - my)
		}
		n += float64(len(g))
		df += float64(len(g) - 1)
	}
	if df < 3 || sxx == 0 || syy <= 1e-18*level*level || level <= 0 {
		return 0, 0
	}
	b := sxy / sxx
	se := math.Sqrt(max(0, syy-b*sxy) / df / sxx)
	if math.Abs(b) < trendT*se || b*sxy < trendShare*syy {
		return 0, 0
	}
	return b / (level / n), se / math.Abs(b)
}

// A change along the samples is a trend where it is so many standard errors and
// explains such a share of the variance.
const (
	trendT     = 8
	trendShare = 0.5
)

// levels is the highest level over the lowest, each the median of an eighth of the
// longest run's laps; 1 of few.
func (c *course) levels(ts []trace) float64 {
	best := 1.0
	for run, t := range ts {
		var xs []float64
		for i := min(c.warm, len(t.laps)); i < len(t.laps); i++ {
			if !c.out[run][i] && !c.hasNamed(t.laps[i]) {
				xs = append(xs, t.laps[i].rate(quietTime))
			}
		}
		parts := min(8, len(xs)/3)
		low, high := math.Inf(1), 0.0
		for k := range parts {
			m := stats.Median(xs[k*len(xs)/parts : (k+1)*len(xs)/parts])
			low, high = min(low, m), max(high, m)
		}
		if parts > 1 && low > 0 {
			best = max(best, high/low)
		}
	}
	return best
}

// period is that of the pattern that is more likely than all others; 0 if none is.
func (c *course) period() int {
	if len(c.patterns) > 0 && c.patterns[0].weight > 0.5 {
		return c.patterns[0].period
	}
	return 0
}

func (c *course) warnings(unit string) []error {
	var w []error
	switch p := c.period(); {
	case p > 0:
		w = append(w, fmt.Errorf("%w: a cost every %d %ss, from %d seen", ErrPeriod, p, unit, c.outliers))
	case c.outliers > 0:
		w = append(w, fmt.Errorf("%w: %d seen", ErrRecurring, c.outliers))
	}
	if c.slope != 0 {
		w = append(w, fmt.Errorf("%w: %+.2g %% from one %s to the next; the interval allows that it goes on, and that it ends", ErrTrend, 100*c.slope, unit))
	}
	return w
}
