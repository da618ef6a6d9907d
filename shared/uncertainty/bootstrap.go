package uncertainty

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/stats"
)

// Resampling holds the settings of a bootstrap. The zero value works.
type Resampling struct {
	Replicates int     // 0 means 1000
	Level      float64 // of the interval, in (0, 1); 0 means 0.95
	Seed       uint64
}

// withDefaults sets the defaults and checks the settings.
func (r Resampling) withDefaults() (Resampling, error) {
	if r.Replicates == 0 {
		r.Replicates = 1000
	}
	if r.Level == 0 {
		r.Level = 0.95
	}
	if r.Replicates < 2 {
		return r, fmt.Errorf("%w: have %d replicates, need 2", ErrTooFew, r.Replicates)
	}
	return r, checkLevel(r.Level)
}

// Bootstrap returns a statistic of units with its percentile interval (Efron and
// Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13): the statistic
// of as many units, drawn with replacement. Units are independent; a block of
// measurements that overlap or repeat each other is one ([Blocks]). With few units
// the interval is too narrow; below 10 prefer [Student]. The statistic neither
// keeps nor changes the slice that it is given.
//
// At least 2 units are needed. The error wraps [ErrTooFew], [ErrLevel], or
// [ErrValue] for a statistic that is not finite.
func Bootstrap[T any](units []T, statistic func([]T) float64, r Resampling) (Prediction, error) {
	r, err := r.withDefaults()
	if err != nil {
		return Prediction{}, err
	}
	if len(units) < 2 {
		return Prediction{}, fmt.Errorf("%w: have %d units, need 2", ErrTooFew, len(units))
	}
	rng := random(r.Seed)
	sample := make([]T, len(units))
	found := make([]float64, r.Replicates)
	for b := range found {
		for i := range sample {
			sample[i] = units[rng.IntN(len(units))]
		}
		found[b] = statistic(sample)
	}
	return percentiles(statistic(units), found, r.Level)
}

// random returns the random numbers of a seed.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }

// percentiles returns a value with the central interval of its replicates.
func percentiles(value float64, replicates []float64, level float64) (Prediction, error) {
	if !finite(value) {
		return Prediction{}, fmt.Errorf("%w: the statistic is %v", ErrValue, value)
	}
	if err := checkValues("replicate", replicates, 2); err != nil {
		return Prediction{}, err
	}
	s := stats.Sort(replicates)
	return Prediction{Value: value, Low: s.Quantile((1 - level) / 2), High: s.Quantile((1 + level) / 2), Level: level}, nil
}

// Blocks groups values by block, blocks in the order in which they first occur.
func Blocks[T any, K comparable](values []T, block func(T) K) [][]T {
	var blocks [][]T
	at := make(map[K]int)
	for _, v := range values {
		k := block(v)
		i, seen := at[k]
		if !seen {
			i = len(blocks)
			at[k], blocks = i, append(blocks, nil)
		}
		blocks[i] = append(blocks[i], v)
	}
	return blocks
}

// Student returns the mean of values and the interval for the mean of their
// population, by Student's t over independent blocks. blocks[i] is the block of
// values[i]; nil makes each value its own block, and the interval is then exact for
// any number of normal values. The variance of the mean is that of the blocks' sums
// of deviations (the ratio estimator of Cochran, "Sampling Techniques", 1977,
// section 6.3, with the block as the unit).
//
// At least 2 blocks are needed; the error wraps [ErrTooFew], [ErrLength],
// [ErrLevel] or [ErrValue].
func Student(values []float64, blocks []int, level float64) (Prediction, error) {
	if err := checkLevel(level); err != nil {
		return Prediction{}, err
	}
	if err := checkValues("value", values, 2); err != nil {
		return Prediction{}, err
	}
	if blocks != nil && len(blocks) != len(values) {
		return Prediction{}, fmt.Errorf("%w: %d values, %d blocks", ErrLength, len(values), len(blocks))
	}
	mean := stat.Mean(values, nil)
	sums := sumsOf(values, blocks, mean)
	n := float64(len(sums))
	if n < 2 {
		return Prediction{}, fmt.Errorf("%w: %v block, want 2 or more", ErrTooFew, n)
	}
	var square float64
	for _, s := range sums {
		square += s * s
	}
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1+level)/2) * math.Sqrt(n/(n-1)*square) / float64(len(values))
	return Prediction{Value: mean, Low: mean - half, High: mean + half, Level: level}, nil
}

// sumsOf returns the sum of deviations from the mean of each block, blocks in the
// order in which they first occur.
func sumsOf(values []float64, blocks []int, mean float64) []float64 {
	var sums []float64
	at := map[int]int{}
	for i, v := range values {
		block := i
		if blocks != nil {
			block = blocks[i]
		}
		k, seen := at[block]
		if !seen {
			k = len(sums)
			at[block], sums = k, append(sums, 0)
		}
		sums[k] += v - mean
	}
	return sums
}
