package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/shared/stats"
)

// Blocks of laps whose medians are compared, and how many of them make a level.
const (
	blockCount  = 64
	levelBlocks = 2
	levelLaps   = 3
)

// segments cuts the times of units into levels that last, by optimal partitioning of the
// logarithms of block medians with a penalty for each level (Killick, Fearnhead and
// Eckley 2012, Optimal detection of changepoints with a linear computational cost,
// section 3; few blocks need no pruning). It returns the first lap of the last level and
// the logarithms of the ratios from level to level; 0 and none where there is one level.
func segments(rates []float64) (start int, changes []float64) {
	size := max(1, (len(rates)+blockCount-1)/blockCount)
	var xs []float64
	for i := 0; i+size <= len(rates); i += size {
		m := stats.Median(rates[i : i+size])
		if m <= 0 {
			return 0, nil
		}
		xs = append(xs, math.Log(m))
	}
	least := max(levelBlocks, (levelLaps+size-1)/size)
	n := len(xs)
	if n < 2*least {
		return 0, nil
	}
	steps := make([]float64, n-1)
	for i := range steps {
		steps[i] = math.Abs(xs[i+1] - xs[i])
	}
	noise := max(0.01, 1.4826*stats.Median(steps)/math.Sqrt2)
	penalty := levelPenalty * noise * noise * math.Log(float64(n))
	sum, square := make([]float64, n+1), make([]float64, n+1)
	for i, x := range xs {
		sum[i+1], square[i+1] = sum[i]+x, square[i]+x*x
	}
	best, from := make([]float64, n+1), make([]int, n+1)
	best[0] = -penalty
	for to := 1; to <= n; to++ {
		best[to] = math.Inf(1)
		for i := 0; i <= to-least; i++ {
			d := sum[to] - sum[i]
			if c := best[i] + square[to] - square[i] - d*d/float64(to-i) + penalty; c < best[to] {
				best[to], from[to] = c, i
			}
		}
	}
	var levels []float64
	for to := n; to > 0; to = from[to] {
		levels = append(levels, floats.Sum(xs[from[to]:to])/float64(to-from[to]))
		if start == 0 {
			start = from[to]
		}
	}
	slices.Reverse(levels)
	for i := 1; i < len(levels); i++ {
		changes = append(changes, levels[i]-levels[i-1])
	}
	return start * size, changes
}

// levelPenalty times the noise's variance and the logarithm of the number of blocks is
// the cost of a level: twice that of Schwarz's criterion for two parameters, since laps
// that follow each other are alike.
const levelPenalty = 8
