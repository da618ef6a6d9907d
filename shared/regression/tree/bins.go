package tree

import (
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/regression"
)

// maxBins is the largest number of bins of a feature: a bin's number is a byte. A
// feature with missing values uses one number for them.
const maxBins = 256

// feature describes the bins of one column.
type feature struct {
	bins        int       // bins of values; missing values have the next number
	cuts        []float32 // values below cuts[b] are in bins up to b
	missing     bool
	categorical bool // bins are category codes
}

// codes returns the number of bin numbers that the feature uses.
func (f feature) codes() int {
	if f.missing {
		return f.bins + 1
	}
	return f.bins
}

// binned is a matrix of samples as bin numbers, in two orders: by column to split
// rows, and eight columns of a row in one word to sum gradients.
type binned struct {
	rows, columns int
	byColumn      [][]uint8
	words         [][]uint64 // one slice per eight columns; the last is padded
	features      []feature
}

// bin sorts every column into at most limit bins of about equal weight; few
// distinct values get a bin each. Categorical columns keep their codes.
func bin(s regression.Samples, limit int, categorical []bool, threads int) (*binned, error) {
	m := &binned{rows: s.Len(), columns: s.Features}
	if m.rows > math.MaxInt32 {
		return nil, regression.Setting("samples", m.rows, "at most 2147483647")
	}
	if m.columns > maxFeatures {
		return nil, regression.Setting("features", m.columns, fmt.Sprint("at most ", maxFeatures))
	}
	m.byColumn = make([][]uint8, m.columns)
	m.features = make([]feature, m.columns)
	const group = 8 // one cache line of a row
	columns := make([][]float32, group)
	for i := range columns {
		columns[i] = make([]float32, m.rows)
	}
	sorters := make([]sorter, threads)
	for first := 0; first < m.columns; first += group {
		count := min(group, m.columns-first)
		transpose(s, first, columns[:count], threads)
		errs := make([]error, count)
		parallel(threads, count, func(worker, i int) {
			c := first + i
			if categorical != nil && categorical[c] {
				errs[i] = m.categories(c, columns[i])
			} else {
				errs[i] = m.quantiles(c, columns[i], s.Weights, limit, &sorters[worker])
			}
		})
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		m.words = append(m.words, interleave(m.byColumn[first:first+count], m.rows, threads))
	}
	return m, nil
}

// transpose copies some columns as float32, the precision of thresholds.
func transpose(s regression.Samples, first int, columns [][]float32, threads int) {
	inRuns(threads, s.Len(), func(start, end int) {
		for r := start; r < end; r++ {
			for i, v := range s.X[r*s.Features+first:][:len(columns)] {
				columns[i][r] = float32(v) + 0 // -0 becomes 0
			}
		}
	})
}

// interleave packs up to eight columns into each word.
func interleave(columns [][]uint8, rows, threads int) []uint64 {
	words := make([]uint64, rows)
	inRuns(threads, rows, func(start, end int) {
		for i, column := range columns {
			part := words[start:end]
			for r, b := range column[start:end] {
				part[r] |= uint64(b) << (8 * i)
			}
		}
	})
	return words
}

// categories reads a column's values as codes from 0.
func (m *binned) categories(c int, values []float32) error {
	f := feature{categorical: true}
	for r, v := range values {
		switch {
		case v != v:
			f.missing = true
		case v < 0 || v >= maxBins-1 || v != float32(int(v)):
			return regression.NotFinite("category code", r, c, float64(v))
		default:
			f.bins = max(f.bins, int(v)+1)
		}
	}
	column := make([]uint8, len(values))
	for r, v := range values {
		column[r] = uint8(f.bins)
		if v == v {
			column[r] = uint8(v)
		}
	}
	m.byColumn[c], m.features[c] = column, f
	return nil
}

// quantiles bins a numeric column.
func (m *binned) quantiles(c int, values []float32, weights []float64, limit int, by *sorter) error {
	sorted := resize(by.values, len(values))[:0] // ordered value above, row below
	for r, v := range values {
		if math.IsInf(float64(v), 0) {
			return regression.NotFinite("feature", r, c, float64(v))
		}
		if v == v {
			sorted = append(sorted, uint64(toOrdered(v))<<32|uint64(r))
		}
	}
	f := feature{missing: len(sorted) < len(values)}
	if f.missing {
		limit = min(limit, maxBins-1)
	}
	by.values = sorted
	sorted = by.sort()
	column := make([]uint8, len(values))
	f.cuts = assign(sorted, weights, limit, column)
	f.bins = len(f.cuts)
	if f.missing {
		for r, v := range values {
			if v != v {
				column[r] = uint8(f.bins)
			}
		}
	}
	m.byColumn[c], m.features[c] = column, f
	return nil
}

// assign walks the sorted values, closes a bin when it holds its fraction of the
// remaining weight, and writes the bin of each row. A cut lies midway between the
// values that it separates.
func assign(sorted []uint64, weights []float64, limit int, column []uint8) []float32 {
	if len(sorted) == 0 {
		return nil
	}
	weight := func(i int) float64 { return 1 }
	if weights != nil {
		weight = func(i int) float64 { return weights[uint32(sorted[i])] }
	}
	left, distinct := 0.0, 0
	for i := range sorted {
		left += weight(i)
		if i == 0 || sorted[i]>>32 != sorted[i-1]>>32 {
			distinct++
		}
	}
	each := distinct <= limit
	var cuts []float32
	held := 0.0
	for i := range sorted {
		column[uint32(sorted[i])] = uint8(len(cuts))
		held += weight(i)
		last := i == len(sorted)-1
		if !last && sorted[i]>>32 == sorted[i+1]>>32 {
			continue
		}
		value := fromOrdered(uint32(sorted[i] >> 32))
		switch {
		case last:
			cuts = append(cuts, min(math.Nextafter32(value, float32(math.Inf(1))), math.MaxFloat32))
		case each || len(cuts) < limit-1 && held*float64(limit-len(cuts)) >= left:
			cuts = append(cuts, midway(value, fromOrdered(uint32(sorted[i+1]>>32))))
			left -= held
			held = 0
		}
	}
	return cuts
}

// midway returns a threshold t with a < t <= b.
func midway(a, b float32) float32 {
	if t := a/2 + b/2; a < t && t <= b {
		return t
	}
	return b
}

// toOrdered maps float32 to integers of the same order; unordered is its inverse.
func toOrdered(v float32) uint32 {
	b := math.Float32bits(v)
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}

func fromOrdered(b uint32) float32 {
	if b>>31 == 1 {
		return math.Float32frombits(b &^ (1 << 31))
	}
	return math.Float32frombits(^b)
}

// sorter sorts values by their upper 32 bits and keeps equal ones in order.
type sorter struct{ values, other []uint64 }

// sort sorts by radix, in three passes of 11 bits.
func (s *sorter) sort() []uint64 {
	if len(s.values) < 1<<11 {
		slices.Sort(s.values) // rows ascend in the lower half, so this is stable
		return s.values
	}
	s.other = resize(s.other, len(s.values))
	for shift := 32; shift < 64; shift += 11 {
		var counts [1 << 11]int
		for _, v := range s.values {
			counts[v>>shift&(1<<11-1)]++
		}
		if slices.Max(counts[:]) == len(s.values) {
			continue
		}
		sum := 0
		for i, n := range counts {
			counts[i] = sum
			sum += n
		}
		for _, v := range s.values {
			k := v >> shift & (1<<11 - 1)
			s.other[counts[k]] = v
			counts[k]++
		}
		s.values, s.other = s.other, s.values
	}
	return s.values
}
