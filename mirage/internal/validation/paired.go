package validation

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Paired compares two policies on the same episodes.
type Paired struct {
	// Difference is the mean of the first's costs less the second's, in hours,
	// with its interval over blocks; below zero the first is better.
	Difference uncertainty.Prediction `json:"difference_hours"`
	// P is the two-sided significance of Student's test on the differences, a
	// block being one observation; 1 where there are fewer than two blocks.
	P float64 `json:"p"`
	// Blocks is the number of independent observations: spans of time.
	Blocks int `json:"blocks"`
	// Verdict says it in words.
	Verdict string `json:"verdict"`
}

// Compare compares costs of the same episodes, of which there is at least one and which belong
// to blocks.
func Compare(a, b []float64, blocks []int) Paired {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	var p Paired
	var deviation float64
	p.Difference, deviation, p.Blocks = blockMean(d, blocks)
	p.P = significance(p.Difference.Value, deviation, p.Blocks)
	switch {
	case p.P < 1-level && p.Difference.Value < 0:
		p.Verdict = "better"
	case p.P < 1-level:
		p.Verdict = "worse"
	default:
		p.Verdict = "no difference shown"
	}
	return p
}

// significance returns the chance of a mean so far from 0 if there were no
// difference.
func significance(mean, deviation float64, blocks int) float64 {
	if blocks < 2 || mean == 0 {
		return 1
	}
	return 2 * student(blocks).Survival(math.Abs(mean)/deviation)
}

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
