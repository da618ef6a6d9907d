package estimate

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// pattern is a belief about when a cost comes: with the units whose number leaves
// the remainder offset, or, of period 0, with laps at random.
type pattern struct {
	period, offset int
	weight         float64
}

// occursIn reports whether a lap has a unit of the pattern.
func (p pattern) occursIn(l lap) bool { return p.among(l.from, l.to) > 0 }

// expect returns the number of occurrences after unit from, up to to: at random, by a rate for
// each unit.
func (p pattern) expect(from, to, rate float64) float64 {
	if p.period > 0 {
		return p.among(from, to)
	}
	return rate * (to - from)
}

// among returns the number of units of the pattern after the first from, up to to.
func (p pattern) among(from, to float64) float64 { return p.upTo(to) - p.upTo(from) }

func (p pattern) upTo(n float64) float64 {
	if p.offset == 0 {
		return max(0, math.Floor(n/float64(p.period)))
	}
	return max(0, math.Floor((n-float64(p.offset))/float64(p.period))+1)
}

// longestPeriod bounds the periods that are looked for.
const longestPeriod = 500

// patterns returns the beliefs about when a cost comes that agree with the laps that
// have it and those that do not, the likeliest first: Bayes' rule, with a period as
// likely as none, its odds falling with its length, and remainders of 0 and 1 (a loop
// that counts from 1 or from 0) before others. Without a period the cost comes at
// random, at a rate about which nothing is known (Jeffreys' prior).
func patterns(has, lacks []lap) []pattern {
	if len(lacks) == 0 {
		return []pattern{{period: 1, weight: 1}}
	}
	last := 1.0
	for _, l := range slices.Concat(has, lacks) {
		last = max(last, l.to)
	}
	longest := int(min(last, longestPeriod))
	scale := 0.0
	for p := 2; p <= longest; p++ {
		scale += 1 / float64(p)
	}
	k, n := float64(len(has)), float64(len(has)+len(lacks))
	found := []pattern{{weight: math.Exp(mathext.Lbeta(k+0.5, n-k+0.5) - mathext.Lbeta(0.5, 0.5))}}
	sum := found[0].weight
	for p := 2; p <= longest; p++ {
		for o := range p {
			one := pattern{period: p, offset: o, weight: 0.45 / float64(p) / scale}
			if o > 1 {
				one.weight *= 0.1 / 0.45 / float64(p-2)
			}
			if one.agrees(has, lacks) {
				found, sum = append(found, one), sum+one.weight
			}
		}
	}
	for i := range found {
		found[i].weight /= sum
	}
	slices.SortStableFunc(found, func(a, b pattern) int { return cmp.Compare(b.weight, a.weight) })
	return found
}

// agrees reports whether the laps with the cost, and only they, have units of the pattern.
func (p pattern) agrees(has, lacks []lap) bool {
	return !slices.ContainsFunc(has, func(l lap) bool { return !p.occursIn(l) }) && !slices.ContainsFunc(lacks, p.occursIn)
}
