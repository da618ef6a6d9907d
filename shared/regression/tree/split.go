package tree

import (
	"math"
	"slices"
)

// penalty is the part of the settings that scores a node (Chen and Guestrin
// 2016, equations 5 to 7, without their factor 1/2, as XGBoost reports it).
type penalty struct {
	packing
	lambda, minChildWeight float64
}

// weight returns the best value of a node, -G/(H+lambda).
func (p penalty) weight(c cell) float64 {
	g, h := float64(c.g)*p.gUnit, float64(c.h)*p.hUnit
	if h+p.lambda <= 0 {
		return 0
	}
	return -g / (h + p.lambda)
}

// score returns G^2/(H+lambda), the loss reduction of the node's best weight.
func (p penalty) score(c cell) float64 {
	g, h := float64(c.g)*p.gUnit, float64(c.h)*p.hUnit
	if h+p.lambda <= 0 {
		return 0
	}
	return g * g / (h + p.lambda)
}

// split is a candidate division of a node. Bins up to cut go left; for a
// categorical feature, the codes that are not in right.
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

// finder finds the best split of one feature in one node.
type finder struct {
	penalty
	sums    planes // of the feature
	total   cell
	parent  float64 // score of the undivided node
	minimum int64
}

func (p penalty) finder(total cell) finder {
	return finder{penalty: p, total: total, parent: p.score(total), minimum: p.minimum()}
}

// minimum returns the smallest sum of hessians in a child.
func (p penalty) minimum() int64 {
	return max(1, int64(min(math.Ceil(p.minChildWeight/p.hUnit), 1<<61)))
}

// divisible reports whether a node can have two children.
func (p penalty) divisible(c cell) bool { return c.h >= 2*p.minimum() }

// gain returns the loss reduction of splitting off the left sum, or -1 if that is
// not allowed.
func (f *finder) gain(left cell) float64 {
	right := f.total.minus(left)
	if left.h < f.minimum || right.h < f.minimum {
		return -1
	}
	// score(left) + score(right), with one division
	gl, hl := float64(left.g)*f.gUnit, float64(left.h)*f.hUnit+f.lambda
	gr, hr := float64(right.g)*f.gUnit, float64(right.h)*f.hUnit+f.lambda
	return (gl*gl*hr+gr*gr*hl)/(hl*hr) - f.parent
}

// consider keeps a candidate if it beats the best so far.
func (f *finder) consider(best *split, left cell, cut int, missingLeft bool) {
	if gain := f.gain(left); gain > best.gain {
		best.gain = gain
		best.cut = cut
		best.missingLeft = missingLeft
		best.sumLeft, best.right = left, nil
	}
}

// missing returns the sum of the rows without a value.
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
			continue // the same division as one bin earlier
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

// Limits of categorical splits, XGBoost's defaults.
const (
	maxOneHot     = 4  // up to this number of categories, one against the rest
	maxCategories = 64 // largest number of categories that go right
)

// categorical sorts the codes by their weight and scans that order (Fisher's
// grouping), or tries one against the rest if there are few.
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
				best.gain = gain
				best.missingLeft = missingLeft
				best.sumLeft, best.right = l, &kept
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
		wa, wb := f.weight(f.cell(f.sums, a)), f.weight(f.cell(f.sums, b))
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

func (s *categorySet) contains(code int) bool { return s[code>>6&3]>>(code&63)&1 == 1 }

// codes lists the members in order.
func (s *categorySet) codes() []int {
	var codes []int
	for code := range maxBins {
		if s.contains(code) {
			codes = append(codes, code)
		}
	}
	return codes
}
