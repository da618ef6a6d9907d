package replay

import (
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/perfmodel"
	"github.com/foretime/foretime/shared/stats"
)

// baselines are plain rules to be measured against: the median of all runs of
// equal sizes so far, and the last of them. For sizes that did not run before
// both take all sizes of the task function together.
type baselines struct {
	runs map[any][]float64 // sorted
	last map[any]float64
}

func newBaselines() *baselines {
	return &baselines{map[any][]float64{}, map[any]float64{}}
}

// run is one run with what was predicted for it.
type run struct {
	footprint *perfmodel.Footprint
	predicted perfmodel.Prediction
	seconds   float64
}

func (r run) pair(known *baselines) Pair {
	return Pair{Predicted: r.predicted.Value, Actual: r.seconds, Low: r.predicted.Low, High: r.predicted.High, Unseen: !known.knows(r.footprint)}
}

// judge adds what each rule would have said of a run.
func (b *baselines) judge(r run, to map[string][]Pair) {
	for name, value := range b.answers(r.footprint) {
		to[name] = append(to[name], Pair{Predicted: value, Actual: r.seconds, Low: math.NaN(), High: math.NaN(), Unseen: !b.knows(r.footprint)})
	}
}

func (b *baselines) knows(f *perfmodel.Footprint) bool { return len(b.runs[f]) > 0 }

func (b *baselines) answers(f *perfmodel.Footprint) map[string]float64 {
	var at any = f
	if !b.knows(f) {
		at = f.Entry()
	}
	return map[string]float64{"history": stats.Sorted(b.runs[at]).Median(), "last_value": b.last[at]}
}

func (b *baselines) learn(f *perfmodel.Footprint, seconds float64) {
	for _, at := range []any{f, f.Entry()} {
		i, _ := slices.BinarySearch(b.runs[at], seconds)
		b.runs[at] = slices.Insert(b.runs[at], i, seconds)
		b.last[at] = seconds
	}
}
