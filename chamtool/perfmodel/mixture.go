package perfmodel

import (
	"math"
	"slices"
)

// mixture is the weighted middle of the answers of all models. A model's weight
// falls exponentially with how far its error of late lies above the least one's,
// as a share of it: what serves is near the best model where one is clearly
// best, and steadier than any where they are alike.
type mixture struct {
	loss      [mostModels]float64 // rolling mean of |answer - what came|, of logarithms, at most mostLoss
	judged    [mostModels]int
	weight    [mostModels]float64
	moments   []int // models that answer for one moment
	momentary bool  // one of them is clearly better than all others: else they are not worth their time
	runs      int
}

const (
	// mostLoss bounds one run's part of a loss, so that a stall does not choose
	// the model.
	mostLoss = 6
	// memory is about how many judged runs a loss stands on.
	memory = 256
	// proven is how many runs must judge a model before it counts.
	proven = 4
	// worthwhile is how much better a model must be that has to be asked for every
	// task, besides a tenth: a percent.
	worthwhile = 0.01
	// inherited is how many runs of the process's other functions count for a
	// function that has none.
	inherited = 2 * proven
	// weighEvery is after how many judged runs the weights are made again.
	weighEvery = 8
	// contrast is how fast a weight falls: a model whose error is a tenth above
	// the least has exp(-contrast/10), a twentieth, of its weight.
	contrast = 30
)

// judge takes one run that the models answered for before it was learned.
func (m *mixture) judge(answers []float64, y float64) {
	for k, a := range answers {
		if math.IsNaN(a) {
			continue
		}
		m.judged[k]++
		m.loss[k] += (math.Min(math.Abs(a-y), mostLoss) - m.loss[k]) / float64(min(m.judged[k], memory))
	}
	if m.runs++; m.runs < memory/4 || m.runs%weighEvery == 0 {
		m.weigh(len(answers))
	}
}

// heir is a mixture that begins with what this one knows, as if it had judged
// some runs itself.
func (m *mixture) heir() mixture {
	out := *m
	for k := range out.judged {
		out.judged[k] = min(out.judged[k], inherited)
	}
	out.runs = 0
	return out
}

// weigh makes the weights of n models from their losses.
func (m *mixture) weigh(n int) {
	least := math.Inf(1)
	for k := range n {
		if m.judged[k] >= proven {
			least = math.Min(least, m.loss[k])
		}
	}
	for k := range n {
		m.weight[k] = 0
		if m.judged[k] >= proven {
			m.weight[k] = math.Exp(-contrast * (m.loss[k] - least) / (least + 1e-3))
		}
	}
	of, others := math.Inf(1), math.Inf(1)
	for k := range n {
		switch {
		case m.judged[k] < proven:
		case slices.Contains(m.moments, k):
			of = math.Min(of, m.loss[k])
		default:
			others = math.Min(others, m.loss[k])
		}
	}
	m.momentary = of+worthwhile < 0.9*others
}

// middle is the weighted median of the answers, NaN where no model with a
// weight has one, and the model whose answer it is. Between two neighbours it
// lies where half of the weight is below.
func (m *mixture) middle(answers []float64) (y float64, model int) {
	var order [mostModels]int
	n, sum := 0, 0.0
	for k, a := range answers {
		if math.IsNaN(a) || m.weight[k] == 0 {
			continue
		}
		i := n
		for ; i > 0 && answers[order[i-1]] > a; i-- {
			order[i] = order[i-1]
		}
		order[i] = k
		n++
		sum += m.weight[k]
	}
	below := 0.0
	for _, k := range order[:n] {
		w := m.weight[k]
		if below+w < sum/2 {
			below += w
			continue
		}
		return answers[k], k
	}
	return math.NaN(), -1
}

// heaviest is the model with the most weight; the fallback before any has some.
func (m *mixture) heaviest(n int) int {
	best := fallback
	for k := range n {
		if m.weight[k] > m.weight[best] {
			best = k
		}
	}
	return best
}
