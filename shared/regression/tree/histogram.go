package tree

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// cell is a sum of gradients and hessians in fixed point. Integer sums are
// exact, so their order, and the number of threads, change nothing.
type cell struct{ g, h int64 }

func (c cell) plus(d cell) cell  { return cell{c.g + d.g, c.h + d.h} }
func (c cell) minus(d cell) cell { return cell{c.g - d.g, c.h - d.h} }

// packing describes how integers hold cells. If the hessians are small whole
// numbers (squared error without weights, bootstrap counts) one integer holds
// g<<shift + h, and one addition sums both; otherwise a second one holds h.
type packing struct {
	packed       bool
	shift        uint
	gUnit, hUnit float64 // value of one step
}

// planes hold one integer per row or bin, packed cells, or two: g and h.
type planes [2][]int64

func (p packing) cell(sums planes, i int) cell {
	if p.packed {
		v := sums[0][i]
		return cell{v >> (p.shift & 63), v & (1<<(p.shift&63) - 1)}
	}
	return cell{sums[0][i], sums[1][i]}
}

// part returns the n cells from start.
func (p planes) part(start, n int) planes {
	p[0] = p[0][start : start+n]
	if p[1] != nil {
		p[1] = p[1][start : start+n]
	}
	return p
}

// subtract turns a parent's histogram into that of the other child.
func (p planes) subtract(child planes) {
	for i, plane := range p {
		other := child[i][:len(plane)]
		for b := range plane {
			plane[b] -= other[b]
		}
	}
}

// gradients holds the first and second derivatives of the loss at each row, in
// fixed point.
type gradients struct {
	packing
	values planes
}

// load converts gradients to fixed point, with as many bits as their sums leave.
// Nil h means second derivatives of 1.
func (q *gradients) load(g, h []float64, threads int) {
	n := len(g)
	sumG := sumRuns(threads, n, func(start, end int) float64 { return magnitude(g[start:end]) })
	sumH, whole := float64(n), true
	if h != nil {
		sumH = sumRuns(threads, n, func(start, end int) float64 { return magnitude(h[start:end]) })
		whole = sumRuns(threads, n, func(start, end int) float64 { return fractions(h[start:end]) }) == 0
	}
	q.shift = uint(bits.Len64(uint64(min(sumH, 1<<40))))
	q.values[0], q.values[1] = resize(q.values[0], n), nil
	if q.packed = whole && q.shift <= 32; !q.packed {
		q.shift, q.values[1] = 0, make([]int64, n)
	}
	gScale, hScale := fixedPoint(sumG, 61-int(q.shift)), 1.0
	if !q.packed {
		hScale = fixedPoint(sumH, 61)
	}
	q.gUnit, q.hUnit = 1/gScale, 1/hScale
	first, second := q.values[0], q.values[1]
	inRuns(threads, n, func(start, end int) {
		switch {
		case h == nil:
			for i, v := range g[start:end] {
				first[start+i] = int64(math.RoundToEven(v*gScale))<<q.shift + 1
			}
		case q.packed:
			for i, v := range g[start:end] {
				first[start+i] = int64(math.RoundToEven(v*gScale))<<q.shift + int64(h[start+i])
			}
		default:
			for i, v := range g[start:end] {
				first[start+i] = int64(math.RoundToEven(v * gScale))
				second[start+i] = int64(math.RoundToEven(h[start+i] * hScale))
			}
		}
	})
}

func magnitude(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Abs(v)
	}
	return sum
}

func fractions(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v - math.Trunc(v)
	}
	return sum
}

// fixedPoint returns the greatest power of two that keeps a sum within some bits.
func fixedPoint(sum float64, bits int) float64 {
	if sum == 0 {
		return 1
	}
	_, exponent := math.Frexp(sum)
	return math.Ldexp(1, min(bits-exponent, 1000))
}

// total returns the sum over some rows.
func (q *gradients) total(rows []uint32, threads int) cell {
	var sums [2]atomic.Int64
	inRuns(threads, len(rows), func(start, end int) {
		for plane, values := range q.values {
			if values == nil {
				continue
			}
			sum := int64(0)
			for _, r := range rows[start:end] {
				sum += values[r]
			}
			sums[plane].Add(sum)
		}
	})
	return q.cell(planes{{sums[0].Load()}, {sums[1].Load()}}, 0)
}

// accumulator sums rows into bins: 256 bins per feature and eight features
// together, so no index needs a check. The sums of the columns that pad the last
// eight are never read.
type accumulator struct {
	sums   [][8][maxBins]int64
	values [chunk]int64
	codes  [chunk]uint64
}

// chunk is the number of rows gathered before they are summed: independent loads
// overlap, and the gathered data stays in the second-level cache.
const chunk = 2048

// add sums the values of the rows into the accumulator.
func (a *accumulator) add(m *binned, rows []uint32, values []int64) {
	for len(rows) > 0 {
		n := min(chunk, len(rows))
		v := gather(a.values[:n], values, rows[:n])
		for i, words := range m.words {
			codes := gather(a.codes[:n], words, rows[:n])
			if m.columns-8*i > 4 {
				addEight(&a.sums[i], codes, v)
			} else {
				addFour(&a.sums[i], codes, v)
			}
		}
		rows = rows[n:]
	}
}

// gather copies the rows' items, or returns a slice of from if the rows, which
// ascend, are contiguous.
func gather[T any](to, from []T, rows []uint32) []T {
	first, last := rows[0], rows[len(rows)-1]
	if int(last-first) == len(rows)-1 {
		return from[first : last+1]
	}
	to = to[:len(rows)]
	for i, r := range rows {
		to[i] = from[r]
	}
	return to
}

// addEight adds values to the sums of eight features. In this hot loop of training one load
// brings the bins of all eight, and the sums are at constant offsets.
func addEight(sums *[8][maxBins]int64, words []uint64, values []int64) {
	values = values[:len(words)]
	for i, codes := range words {
		v := values[i]
		sums[0][uint8(codes)] += v
		sums[1][uint8(codes>>8)] += v
		sums[2][uint8(codes>>16)] += v
		sums[3][uint8(codes>>24)] += v
		sums[4][uint8(codes>>32)] += v
		sums[5][uint8(codes>>40)] += v
		sums[6][uint8(codes>>48)] += v
		sums[7][uint8(codes>>56)] += v
	}
}

func addFour(sums *[8][maxBins]int64, words []uint64, values []int64) {
	values = values[:len(words)]
	for i, codes := range words {
		v := values[i]
		sums[0][uint8(codes)] += v
		sums[1][uint8(codes>>8)] += v
		sums[2][uint8(codes>>16)] += v
		sums[3][uint8(codes>>24)] += v
	}
}

// drain moves the accumulated sums to the histogram, or adds them to it, and clears
// the accumulator.
func (a *accumulator) drain(m *binned, to []int64, move bool) {
	for c, f := range m.features {
		sums := a.sums[c/8][c%8][:f.codes()]
		out := to[:len(sums)]
		to = to[len(sums):]
		if move {
			copy(out, sums)
		} else {
			for b, v := range sums {
				out[b] += v
			}
		}
		clear(sums)
	}
}

// resize returns s with length n and arbitrary contents.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
