package validation

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/uncertainty"
)

// level is the level of all intervals of figures.
const level = .95

// mostBlocks is the largest number of spans that the time of the episodes is cut into. Queues
// are busy for days on end, so neighbouring short spans are not independent: see DESIGN.md.
const mostBlocks = 4

// Blocks puts the episodes of a plan that see the same queue into one block
// each: it cuts the time of their beginnings into equal spans, four or as many
// fewer as leave each as long as an episode takes on average from its beginning
// to the start of its reactive successor. The i-th number is the block of
// episode i.
func Blocks(plan samples.Plan, reactive []Played) []int {
	blocks := make([]int, len(reactive))
	span := 0.0
	for i := range reactive {
		span += float64(reactive[i].SuccStart-plan.Submit(i)) / float64(len(reactive))
	}
	all := float64(len(reactive)) * float64(plan.Interval)
	n := int64(min(max(all/max(span, 1), 1), mostBlocks))
	for i := range blocks {
		blocks[i] = int(int64(i) * n / int64(len(reactive)))
	}
	return blocks
}

// blockMean returns the mean of values with Student's interval over blocks, unknown
// for fewer than two; deviation is its standard error.
func blockMean(values []float64, blocks []int) (mean uncertainty.Prediction, deviation float64, n int) {
	distinct := map[int]bool{}
	for _, b := range blocks {
		distinct[b] = true
	}
	n = len(distinct)
	mean, err := uncertainty.Student(values, blocks, level)
	if err != nil {
		return uncertainty.Point(stat.Mean(values, nil)), math.NaN(), n
	}
	return mean, mean.Width() / 2 / student(n).Quantile((1+level)/2), n
}

func student(blocks int) distuv.StudentsT {
	return distuv.StudentsT{Sigma: 1, Nu: float64(blocks - 1)}
}

// effective returns the number of independent episodes with the same information as these: the
// variance of one over that of the mean; 0 if it is unknown.
func effective(values []float64, deviation float64) float64 {
	if !(deviation > 0) {
		return 0
	}
	return min(stat.Variance(values, nil)/(deviation*deviation), float64(len(values)))
}
