package tree

import (
	"math"
	"math/bits"
)

// cell is a sum of gradients and hessians in fixed point. Integer sums are
// exact, so their order, and the number of threads, change nothing.
type cell struct{ g, h int64 }

func (c cell) plus(d cell) cell  { return cell{c.g + d.g, c.h + d.h} }
func (c cell) minus(d cell) cell { return cell{c.g - d.g, c.h - d.h} }

// gradients are the first and second derivatives of the loss at each row, in
// fixed point, in the order that the grower keeps its rows in. Where the
// hessians are small whole numbers (squared error without weights, bootstrap
// counts) both share one integer, and one addition sums both.
type gradients struct {
	packed        []int64 // g<<shift + h; nil when pairs is used
	pairs         []cell
	shift         uint
	gUnit, hUnit  float64 // value of one step
	scratchPacked []int64
	scratchPairs  []cell
}

// load puts the rows' gradients into fixed point with as many bits as their
// sums leave.
func (q *gradients) load(rows []uint32, g, h []float64) {
	maxG, maxH, sumH, whole := 0.0, 0.0, 0.0, true
	for _, r := range rows {
		maxG = max(maxG, math.Abs(g[r]))
		maxH = max(maxH, h[r])
		sumH += h[r]
		whole = whole && h[r] == math.Trunc(h[r])
	}
	q.shift = uint(bits.Len64(uint64(min(sumH, 1<<40))))
	if whole && q.shift <= 32 {
		q.pack(rows, g, h, maxG)
	} else {
		q.pair(rows, g, h, maxG, maxH)
	}
}

func (q *gradients) pack(rows []uint32, g, h []float64, maxG float64) {
	q.pairs = q.pairs[:0]
	q.packed = resized(q.packed, len(rows))
	q.scratchPacked = resized(q.scratchPacked, len(rows))
	scale := fixedPoint(maxG*float64(len(rows)), 62-int(q.shift))
	q.gUnit, q.hUnit = 1/scale, 1
	for i, r := range rows {
		q.packed[i] = int64(math.RoundToEven(g[r]*scale))<<q.shift + int64(h[r])
	}
}

func (q *gradients) pair(rows []uint32, g, h []float64, maxG, maxH float64) {
	q.packed = q.packed[:0]
	q.pairs = resized(q.pairs, len(rows))
	q.scratchPairs = resized(q.scratchPairs, len(rows))
	n := float64(len(rows))
	gScale, hScale := fixedPoint(maxG*n, 61), fixedPoint(maxH*n, 61)
	q.gUnit, q.hUnit = 1/gScale, 1/hScale
	for i, r := range rows {
		q.pairs[i] = cell{int64(math.RoundToEven(g[r] * gScale)), int64(math.RoundToEven(h[r] * hScale))}
	}
}

// fixedPoint is the greatest power of two that keeps a sum within some bits.
func fixedPoint(sum float64, bits int) float64 {
	if sum == 0 {
		return 1
	}
	_, exponent := math.Frexp(sum)
	return math.Ldexp(1, min(bits-exponent, 1000))
}

// total is the sum over rows start to end.
func (q *gradients) total(start, end int) cell {
	var sum cell
	if len(q.packed) > 0 {
		packed := int64(0)
		for _, v := range q.packed[start:end] {
			packed += v
		}
		return q.unpack(packed)
	}
	for _, v := range q.pairs[start:end] {
		sum = sum.plus(v)
	}
	return sum
}

func (q *gradients) unpack(v int64) cell {
	return cell{v >> q.shift, v & (1<<q.shift - 1)}
}

// histogram holds the sums of one node, bins of all features in one slice;
// offsets say where each feature's begin.
type histogram []cell

// subtract turns a parent's histogram into that of the other child.
func (h histogram) subtract(child histogram) {
	for i, c := range child {
		h[i] = h[i].minus(c)
	}
}

// accumulator sums rows into bins, a byte's worth of bins a feature and eight
// features together, so that no index needs a check. What falls into the columns
// that pad the last eight is never read.
type accumulator struct {
	packed [][8][maxBins]int64
	pairs  [][8][maxBins]cell
}

// add sums the gradients of the rows into the accumulator.
func (a *accumulator) add(m *binned, rows []uint32, q *gradients, start, end int) {
	for i, words := range m.words {
		switch {
		case len(q.packed) == 0:
			addPairs(&a.pairs[i], words, rows[start:end], q.pairs[start:end], min(8, m.columns-8*i))
		case m.columns-8*i > 4:
			addEight(&a.packed[i], words, rows[start:end], q.packed[start:end])
		default:
			addFour(&a.packed[i], words, rows[start:end], q.packed[start:end])
		}
	}
}

// addEight is the hot loop of training: one load brings the bins of eight
// features, and the sums lie at offsets that are constants.
func addEight(sums *[8][maxBins]int64, words []uint64, rows []uint32, values []int64) {
	values = values[:len(rows)]
	for i, r := range rows {
		v, codes := values[i], words[r]
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

func addFour(sums *[8][maxBins]int64, words []uint64, rows []uint32, values []int64) {
	values = values[:len(rows)]
	for i, r := range rows {
		v, codes := values[i], words[r]
		sums[0][uint8(codes)] += v
		sums[1][uint8(codes>>8)] += v
		sums[2][uint8(codes>>16)] += v
		sums[3][uint8(codes>>24)] += v
	}
}

func addPairs(sums *[8][maxBins]cell, words []uint64, rows []uint32, values []cell, columns int) {
	values = values[:len(rows)]
	used := sums[:columns]
	for i, r := range rows {
		v, codes := values[i], words[r]
		for c := range used {
			s := &used[c][uint8(codes)]
			s.g += v.g
			s.h += v.h
			codes >>= 8
		}
	}
}

// drain adds the accumulated sums to h and leaves the accumulator empty.
func (a *accumulator) drain(m *binned, q *gradients, h histogram, offsets []int) {
	packed := len(q.packed) > 0
	for c, f := range m.features {
		out := h[offsets[c]:][:f.codes()]
		if packed {
			sums := a.packed[c/8][c%8][:len(out)]
			for b, v := range sums {
				out[b] = out[b].plus(q.unpack(v))
			}
			clear(sums)
		} else {
			sums := a.pairs[c/8][c%8][:len(out)]
			for b, v := range sums {
				out[b] = out[b].plus(v)
			}
			clear(sums)
		}
	}
}

// resized is s with length n, its contents arbitrary.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
