package tree

import (
	"math"
	"slices"
)

// bounds are what monotone constraints leave of a node's weight.
type bounds struct{ low, high float64 }

var unbounded = bounds{math.Inf(-1), math.Inf(1)}

// penalty is the part of the settings that scores a node (Chen and Guestrin
// 2016, equations 5 to 7, without their factor 1/2, as XGBoost reports it).
type penalty struct {
	packing
	lambda, alpha, gamma, minChildWeight, maxDeltaStep float64
}

// weight is the best value of a node: -T(G)/(H+lambda) with T the soft
// threshold of alpha, within the bounds.
func (p penalty) weight(c cell, b bounds) float64 {
	g, h := float64(c.g)*p.gUnit, float64(c.h)*p.hUnit
	if h+p.lambda <= 0 {
		return 0
	}
	w := -p.soft(g) / (h + p.lambda)
	if p.maxDeltaStep > 0 {
		w = min(max(w, -p.maxDeltaStep), p.maxDeltaStep)
	}
	return min(max(w, b.low), b.high)
}

func (p penalty) soft(g float64) float64 {
	switch {
	case g > p.alpha:
		return g - p.alpha
	case g < -p.alpha:
		return g + p.alpha
	}
	return 0
}

// score is T(G)^2/(H+lambda), what the node's best weight takes off the loss.
func (p penalty) score(c cell) float64 {
	g, h := p.soft(float64(c.g)*p.gUnit), float64(c.h)*p.hUnit
	if h+p.lambda <= 0 {
		return 0
	}
	return g * g / (h + p.lambda)
}

// scoreAt is score for a weight that is not the best one.
func (p penalty) scoreAt(c cell, w float64) float64 {
	g, h := float64(c.g)*p.gUnit, float64(c.h)*p.hUnit
	return -(2*g*w + (h+p.lambda)*w*w + 2*p.alpha*math.Abs(w))
}

// split is a candidate division of a node. Bins up to cut go left, or, for a
// categorical feature, the codes that right does not hold.
type split struct {
	gain        float64
	feature     int
	cut         int
	right       *categorySet // nil for a numeric feature
	missingLeft bool
	sumLeft     cell
	weightLeft  float64
	weightRight float64
}

// finder looks for the best split of one feature in one node.
type finder struct {
	penalty
	sums    planes // of the feature
	total   cell
	parent  float64 // score of the undivided node
	bounds  bounds
	trend   int8 // monotone constraint: -1, 0, +1
	plain   bool // no trend, bounds or step limit: scores need no weights
	minimum int64
}

func (p penalty) finder(total cell, b bounds, trend int8) finder {
	f := finder{penalty: p, total: total, bounds: b, trend: trend}
	f.plain = trend == 0 && b == unbounded && p.maxDeltaStep == 0
	f.parent = p.score(total)
	if !f.plain {
		f.parent = p.scoreAt(total, p.weight(total, b))
	}
	f.minimum = p.minimum()
	return f
}

// minimum is the least sum of hessians in a child.
func (p penalty) minimum() int64 {
	return max(1, int64(min(math.Ceil(p.minChildWeight/p.hUnit), 1<<61)))
}

// divisible says whether a node can have two children.
func (p penalty) divisible(c cell) bool { return c.h >= 2*p.minimum() }

// gain is what dividing off the left sum takes off the loss, or -1 where that
// is not allowed.
func (f *finder) gain(left cell) float64 {
	right := f.total.minus(left)
	if left.h < f.minimum || right.h < f.minimum {
		return -1
	}
	if f.plain { // score(left) + score(right), with one division
		gl, hl := f.soft(float64(left.g)*f.gUnit), float64(left.h)*f.hUnit+f.lambda
		gr, hr := f.soft(float64(right.g)*f.gUnit), float64(right.h)*f.hUnit+f.lambda
		return (gl*gl*hr+gr*gr*hl)/(hl*hr) - f.parent
	}
	wl, wr := f.weight(left, f.bounds), f.weight(right, f.bounds)
	if f.trend > 0 && wl > wr || f.trend < 0 && wl < wr {
		return -1
	}
	return f.scoreAt(left, wl) + f.scoreAt(right, wr) - f.parent
}

// consider keeps a candidate if it beats the best so far.
func (f *finder) consider(best *split, left cell, cut int, missingLeft bool) {
	if gain := f.gain(left); gain > best.gain {
		best.gain, best.cut, best.missingLeft, best.sumLeft, best.right = gain, cut, missingLeft, left, nil
	}
}

// missing is the sum of the rows without a value.
func (f *finder) missing(info feature) cell {
	if !info.missing {
		return cell{}
	}
	return f.cell(f.sums, info.bins)
}

// numeric scans the bins in order, missing values to the right and to the left.
func (f *finder) numeric(info feature, best *split) {
	missing := f.missing(info)
	var left cell
	for b := range info.bins {
		c := f.cell(f.sums, b)
		if c == (cell{}) {
			continue // the same division as one bin before
		}
		left = left.plus(c)
		if missing == (cell{}) {
			if left.h == f.total.h {
				return
			}
			f.consider(best, left, b, 2*left.h >= f.total.h)
			continue
		}
		f.consider(best, left, b, false)
		f.consider(best, left.plus(missing), b, true)
	}
}

// Categorical splits as XGBoost's defaults have them.
const (
	maxOneHot     = 4  // up to so many categories, one against the rest
	maxCategories = 64 // most categories that go right
)

// categorical sorts the codes by their weight and scans that order (Fisher's
// grouping), or tries one against the rest where there are few.
func (f *finder) categorical(info feature, best *split) {
	missing := f.missing(info)
	var present []int
	for code := range info.bins {
		if f.cell(f.sums, code).h > 0 {
			present = append(present, code)
		}
	}
	try := func(right *categorySet, sum cell) {
		left := f.total.minus(sum).minus(missing)
		for _, missingLeft := range []bool{false, true} {
			if missing == (cell{}) && !missingLeft {
				continue
			}
			l := left
			if missingLeft {
				l = left.plus(missing)
			}
			if gain := f.gain(l); gain > best.gain {
				kept := *right
				best.gain, best.missingLeft, best.sumLeft, best.right = gain, missingLeft, l, &kept
			}
		}
	}
	if len(present) <= maxOneHot {
		for _, code := range present {
			var right categorySet
			right.add(code)
			try(&right, f.cell(f.sums, code))
		}
		return
	}
	slices.SortStableFunc(present, func(a, b int) int {
		wa, wb := f.weight(f.cell(f.sums, a), unbounded), f.weight(f.cell(f.sums, b), unbounded)
		switch {
		case wa < wb:
			return -1
		case wa > wb:
			return 1
		}
		return 0
	})
	for _, backwards := range []bool{false, true} {
		if backwards {
			slices.Reverse(present)
		}
		var right categorySet
		var sum cell
		for _, code := range present[:min(len(present)-1, maxCategories)] {
			right.add(code)
			sum = sum.plus(f.cell(f.sums, code))
			try(&right, sum)
		}
	}
}

// categorySet is a set of category codes below 256.
type categorySet [4]uint64

func (s *categorySet) add(code int) { s[code>>6] |= 1 << (code & 63) }

func (s *categorySet) has(code int) bool { return s[code>>6&3]>>(code&63)&1 == 1 }

// codes lists the members in order.
func (s *categorySet) codes() []int {
	var codes []int
	for code := range maxBins {
		if s.has(code) {
			codes = append(codes, code)
		}
	}
	return codes
}
