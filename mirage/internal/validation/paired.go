package validation

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrPairs is returned when two policies have not played the same episodes, or
// none.
var ErrPairs = errors.New("episodes cannot be paired")

// Paired compares two policies on the same episodes.
type Paired struct {
	// Difference is the mean of the first's costs less the second's, in hours,
	// with its interval over blocks; below zero the first is better.
	Difference uncertainty.Prediction
	// P is the two-sided significance of Student's test on the differences, a
	// block being one observation; 1 where there are fewer than two blocks.
	P float64
	// Blocks and Effective are the numbers of independent observations: of spans of time, and
	// of episodes with the same information.
	Blocks    int
	Effective float64
	// Verdict says it in words.
	Verdict string
}

// MarshalJSON writes the parts of the difference next to the other fields.
func (p Paired) MarshalJSON() ([]byte, error) {
	low, high := ends(p.Difference)
	return json.Marshal(pairedJSON{p.Difference.Value, low, high, p.P, p.Blocks, p.Effective, p.Verdict})
}

// JSONForm returns a value of the form that MarshalJSON writes.
func (Paired) JSONForm() any { return pairedJSON{} }

type pairedJSON struct {
	Difference float64  `json:"difference_hours"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	P          float64  `json:"p"`
	Blocks     int      `json:"blocks"`
	Effective  float64  `json:"effective_episodes"`
	Verdict    string   `json:"verdict"`
}

// ends returns the ends of a prediction's interval, nil if they are unknown.
func ends(p uncertainty.Prediction) (low, high *float64) {
	if !p.IsBounded() {
		return nil, nil
	}
	return &p.Low, &p.High
}

// Compare compares costs of the same episodes, which belong to blocks. The
// error wraps ErrPairs.
func Compare(a, b []float64, blocks []int) (Paired, error) {
	if len(a) != len(b) || len(a) != len(blocks) || len(a) == 0 {
		return Paired{}, fmt.Errorf("%w: %d and %d episodes in %d blocks", ErrPairs, len(a), len(b), len(blocks))
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	var p Paired
	var deviation float64
	p.Difference, deviation, p.Blocks = blockMean(d, blocks)
	p.Effective = effective(d, deviation)
	p.P = significance(p.Difference.Value, deviation, p.Blocks)
	switch {
	case p.P < 1-level && p.Difference.Value < 0:
		p.Verdict = "better"
	case p.P < 1-level:
		p.Verdict = "worse"
	default:
		p.Verdict = "no difference shown"
	}
	return p, nil
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

// effective returns the number of independent episodes with the same information as these: the
// variance of one over that of the mean; 0 if it is unknown.
func effective(values []float64, deviation float64) float64 {
	if !(deviation > 0) {
		return 0
	}
	return min(stat.Variance(values, nil)/(deviation*deviation), float64(len(values)))
}
