package replay

import (
	"math"

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
	sizes     []pastRuns // by footprint
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
func (r *rules) judge(one *recorded) {
	p := &r.sizes[one.size]
	if p.n == 0 {
		p = &r.functions[one.function]
	}
	if p.n == 0 {
		return
	}
	for i, predicted := range [baselines]float64{p.median.value(), p.last, p.sum / p.n} {
		r.scores[i].Add(predicted, one.seconds)
	}
}

// learn takes an ended run.
func (r *rules) learn(one *recorded) {
	r.sizes[one.size].learn(one.seconds)
	r.functions[one.function].learn(one.seconds)
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
	low, high []float64 // low holds the negated lower half, so both are heaps with the least first
}

func (m *runningMedian) add(x float64) {
	if len(m.low) > 0 && x < -m.low[0] {
		push(&m.low, -x)
	} else {
		push(&m.high, x)
	}
	switch {
	case len(m.low) > len(m.high)+1:
		push(&m.high, -pop(&m.low))
	case len(m.high) > len(m.low)+1:
		push(&m.low, -pop(&m.high))
	}
}

// value returns the median; there is one.
func (m *runningMedian) value() float64 {
	switch {
	case len(m.low) > len(m.high):
		return -m.low[0]
	case len(m.high) > len(m.low):
		return m.high[0]
	}
	return (m.high[0] - m.low[0]) / 2
}

func push(heap *[]float64, x float64) {
	h := append(*heap, x)
	i := len(h) - 1
	for i > 0 && h[(i-1)/2] > x {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = x
	*heap = h
}

func pop(heap *[]float64) float64 {
	h := *heap
	top, x := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if child >= len(h) || h[child] >= x {
			if len(h) > 0 {
				h[i] = x
			}
			break
		}
		h[i] = h[child]
		i = child
	}
	*heap = h
	return top
}
