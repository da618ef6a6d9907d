package replay

import (
	"cmp"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/shared/stats"
)

// baselines are plain rules to be measured against, each with what had ended when
// a run started: the median of all runs of equal sizes, their last, and their mean
// without the runs that lie far from it, as StarPU's history-based performance
// models keep it. For sizes that did not run before all take all sizes of the task
// function together.
type baselines struct {
	ended []run // not learned yet, by their end
	of    map[any]*past
}

// past is the runs of equal sizes, or of a function.
type past struct {
	sorted []float64
	last   float64
	sum    float64
	n      float64
}

// newBaselines will learn from the runs, and sorts them by their start.
func newBaselines(heard []run) *baselines {
	b := &baselines{slices.Clone(heard), map[any]*past{}}
	slices.SortStableFunc(b.ended, func(a, b run) int { return cmp.Compare(a.start+a.seconds, b.start+b.seconds) })
	slices.SortStableFunc(heard, func(a, b run) int { return cmp.Compare(a.start, b.start) })
	return b
}

// run is one run with what was predicted for it; times are in seconds.
type run struct {
	footprint      *perfmodel.Footprint
	predicted      perfmodel.Prediction
	start, seconds float64
}

func (r run) pair(known *baselines) Pair {
	return Pair{Predicted: r.predicted.Value, Actual: r.seconds, Low: r.predicted.Low, High: r.predicted.High, Unseen: !known.knows(r.footprint)}
}

// learnUntil learns from what ended by a time.
func (b *baselines) learnUntil(seconds float64) {
	for len(b.ended) > 0 && b.ended[0].start+b.ended[0].seconds <= seconds {
		b.learn(b.ended[0])
		b.ended = b.ended[1:]
	}
}

// judge adds what each rule would have said of a run.
func (b *baselines) judge(r run, to map[string][]Pair) {
	for name, value := range b.answers(r.footprint) {
		to[name] = append(to[name], Pair{Predicted: value, Actual: r.seconds, Low: math.NaN(), High: math.NaN(), Unseen: !b.knows(r.footprint)})
	}
}

func (b *baselines) knows(f *perfmodel.Footprint) bool { return b.of[f] != nil }

func (b *baselines) answers(f *perfmodel.Footprint) map[string]float64 {
	p := b.of[f]
	if p == nil {
		p = b.of[f.Entry()]
	}
	if p == nil {
		return nil
	}
	return map[string]float64{"history": stats.Sorted(p.sorted).Median(), "last_value": p.last, "starpu": p.sum / p.n}
}

func (b *baselines) learn(r run) {
	for _, at := range []any{r.footprint, r.footprint.Entry()} {
		p := b.of[at]
		if p == nil {
			p = &past{}
			b.of[at] = p
		}
		i, _ := slices.BinarySearch(p.sorted, r.seconds)
		p.sorted, p.last = slices.Insert(p.sorted, i, r.seconds), r.seconds
		if mean := p.sum / p.n; p.n < starpuLeast || math.Abs(r.seconds-mean) <= starpuFar*mean {
			p.sum, p.n = p.sum+r.seconds, p.n+1
		}
	}
}

// StarPU 1.4's defaults: from STARPU_CALIBRATE_MINIMUM runs on, one that is off by
// more than STARPU_HISTORY_MAX_ERROR of the mean is not taken in.
const starpuLeast, starpuFar = 10, 0.5
