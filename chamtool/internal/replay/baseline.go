package replay

import (
	"container/heap"
	"math"
	"sort"

	"github.com/foretime/foretime/chamtool/internal/summary"
)

// The baselines are simple rules that know what had ended when a run started.
const (
	history = iota // median of all runs of equal sizes
	lastValue
	starpu // mean without the runs far from it, as StarPU's history-based models
	baselines
)

// baselineKeys are the names of the baselines in JSON, and baselineLabels those for people.
var (
	baselineKeys   = [baselines]string{"history", "last_value", "starpu"}
	baselineLabels = [baselines]string{"median of past runs", "last value", "mean of past runs, as StarPU"}
)

// rules predict by the baselines. For sizes that did not run before they take all runs of
// the function.
type rules struct {
	sizes     []pastRuns // by function and sizes
	functions []pastRuns // by function
	scores    [baselines]summary.Errors
}

// pastRuns holds the ended runs of equal sizes, or of a function.
type pastRuns struct {
	median runningMedian
	last   float64
	sum    float64
	n      float64
}

// judge scores each rule on a run.
func (r *rules) judge(one *run) {
	p := &r.sizes[one.size]
	if p.n == 0 {
		p = &r.functions[one.entry]
	}
	if p.n == 0 {
		return
	}
	for i, predicted := range [baselines]float64{p.median.value(), p.last, p.sum / p.n} {
		r.scores[i].Add(predicted, one.seconds)
	}
}

// learn takes an ended run.
func (r *rules) learn(one *run) {
	r.sizes[one.size].learn(one.seconds)
	r.functions[one.entry].learn(one.seconds)
}

// StarPU 1.4's defaults: from STARPU_CALIBRATE_MINIMUM runs on, one that is off by
// more than STARPU_HISTORY_MAX_ERROR of the mean is ignored.
const starpuLeast, starpuFar = 10, 0.5

func (p *pastRuns) learn(seconds float64) {
	p.median.add(seconds)
	p.last = seconds
	if mean := p.sum / p.n; p.n < starpuLeast || math.Abs(seconds-mean) <= starpuFar*mean {
		p.sum, p.n = p.sum+seconds, p.n+1
	}
}

// runningMedian is the median of numbers added one by one, each in logarithmic time: two
// heaps of halves whose sizes differ by one at most.
type runningMedian struct {
	low, high half // low holds the negated lower half, so both have the number next to the median first
}

func (m *runningMedian) add(x float64) {
	if m.low.Len() > 0 && x < -m.low.least() {
		heap.Push(&m.low, -x)
	} else {
		heap.Push(&m.high, x)
	}
	switch {
	case m.low.Len() > m.high.Len()+1:
		heap.Push(&m.high, -heap.Pop(&m.low).(float64))
	case m.high.Len() > m.low.Len()+1:
		heap.Push(&m.low, -heap.Pop(&m.high).(float64))
	}
}

// value returns the median; there is one.
func (m *runningMedian) value() float64 {
	switch {
	case m.low.Len() > m.high.Len():
		return -m.low.least()
	case m.high.Len() > m.low.Len():
		return m.high.least()
	}
	return (m.high.least() - m.low.least()) / 2
}

// half is a heap of numbers.
type half struct{ sort.Float64Slice }

func (h *half) least() float64 { return h.Float64Slice[0] }

// Push adds a number behind the others, for package heap.
func (h *half) Push(x any) { h.Float64Slice = append(h.Float64Slice, x.(float64)) }

// Pop takes the last number, for package heap.
func (h *half) Pop() any {
	last := h.Len() - 1
	x := h.Float64Slice[last]
	h.Float64Slice = h.Float64Slice[:last]
	return x
}
