package mixture

import "math"

// MaxExperts is the most experts of a mixture.
const MaxExperts = 4

// Answers are the experts' logarithms of a time, NaN where one sleeps.
type Answers [MaxExperts]float64

// Mixture is the weights of a few experts. The zero value knows none; see [New].
type Mixture struct {
	experts      int
	size         float64 // the logarithm of their number
	runs         int
	parent       *Mixture            // whose weights are the prior; nil where all are equal
	excess       [MaxExperts]float64 // what each lost beyond the mixture, in sum
	record       [MaxExperts]float64 // exp(-η excess), over that of the best
	gap          float64             // Δ of the paper: what mixing cost so far, which sets the rate
	weights      [MaxExperts]float64 // as of the runs
	weightedRuns int                 // of this mixture when weights were computed
	parentRuns   int                 // of its parent then
}

// New begins with experts of equal weight.
func New(experts int) Mixture {
	m := Mixture{experts: experts, size: math.Log(float64(experts))}
	for k := range experts {
		m.record[k] = 1
	}
	return m
}

// Nest returns a mixture that begins with this mixture's weights and rate, follows its
// weights, and keeps a record of its own: its weights are the product of both.
func (m *Mixture) Nest() Mixture {
	n := New(m.experts)
	n.parent = m
	return n
}

// Runs returns the number of runs that it learned from.
func (m *Mixture) Runs() int { return m.runs }

// Weights returns the experts' shares; their sum is 1. They are the mixture's own and
// hold until it learns, or the one above does.
func (m *Mixture) Weights() *[MaxExperts]float64 {
	of := 0
	if m.parent != nil {
		of = m.parent.runs
	}
	if m.weightedRuns != m.runs+1 || m.parentRuns != of {
		m.normalize()
		m.weightedRuns, m.parentRuns = m.runs+1, of
	}
	return &m.weights
}

func (m *Mixture) normalize() {
	m.weights = m.record
	sum := 0.0
	for k := range m.experts {
		if m.parent != nil {
			m.weights[k] *= m.parent.Weights()[k]
		}
		sum += m.weights[k]
	}
	for k := range m.experts {
		m.weights[k] /= sum
	}
}

// lossOf returns the distance of an answer from the truth, both logarithms, and at most 1 for
// an answer that is too low, as the relative error does: an expert that misses a stall is less
// wrong than one that expects a stall which does not come.
func lossOf(answer, actual float64) float64 {
	if answer < actual {
		return min(actual-answer, 1)
	}
	return answer - actual
}

// Observe learns what came, a logarithm, where the experts had answered. What asking
// an expert costs is added to its loss.
func (m *Mixture) Observe(answers *Answers, actual float64, costs [MaxExperts]float64) {
	weights := *m.Weights()
	var loss [MaxExperts]float64
	awake, mean := 0.0, 0.0
	least := math.Inf(1)
	for k, a := range answers[:m.experts] {
		if math.IsNaN(a) {
			weights[k] = 0
			continue
		}
		loss[k] = lossOf(a, actual) + costs[k]
		awake += weights[k]
		mean += weights[k] * loss[k]
		least = min(least, loss[k])
	}
	if !(awake > 0) {
		return
	}
	mean /= awake
	m.runs++
	m.gap += max(0, mean-m.mixLoss(&weights, &loss, awake, least))
	for k, w := range weights[:m.experts] {
		if w > 0 {
			m.excess[k] += loss[k] - mean
		}
	}
	m.weigh()
}

// mixLoss returns the mix loss of the paper: -1/η log Σ w exp(-η loss), at the present rate η.
func (m *Mixture) mixLoss(weights, loss *[MaxExperts]float64, awake, least float64) float64 {
	rate, sum := m.rate(), 0.0
	if math.IsInf(rate, 1) {
		return least
	}
	for k, w := range weights {
		if loss[k] > least {
			w *= math.Exp(-rate * (loss[k] - least))
		}
		sum += w
	}
	return least - math.Log(sum/awake)/rate
}

// rate returns η: the logarithm of the number of experts over Δ. A nested mixture adds the Δ of
// its parent, so the first runs of a function do not decide alone.
func (m *Mixture) rate() float64 {
	gap := m.gap
	if m.parent != nil {
		gap += m.parent.gap
	}
	return m.size / gap
}

// minRecord is the smallest record of an expert relative to the best: an expert that was bad for
// long recovers in the number of runs that gains a factor of five, however long it was bad. Of
// 0.05, 0.1 and 0.2 it was the best, whichever log was left out.
const minRecord = 0.2

// weigh recomputes the records, none below the floor.
func (m *Mixture) weigh() {
	rate, best := m.rate(), math.Inf(1)
	if math.IsInf(rate, 1) {
		return
	}
	for _, e := range m.excess[:m.experts] {
		best = min(best, e)
	}
	for k, e := range m.excess[:m.experts] {
		m.excess[k] = min(e-best, -math.Log(minRecord)/rate) // a common shift changes nothing
		m.record[k] = 1
		if m.excess[k] > 0 {
			m.record[k] = math.Exp(-rate * m.excess[k])
		}
	}
}

// Answer returns the weighted median of the answers, NaN where no expert is awake.
func (m *Mixture) Answer(answers *Answers) float64 {
	weights := m.Weights()
	var order [MaxExperts]int
	n, sum := 0, 0.0
	for k, a := range answers[:m.experts] {
		if math.IsNaN(a) {
			continue
		}
		i := n
		for ; i > 0 && answers[order[i-1]] > a; i-- {
			order[i] = order[i-1]
		}
		order[i] = k
		n++
		sum += weights[k]
	}
	below := 0.0
	for _, k := range order[:n] {
		if below += weights[k]; below >= sum/2 {
			return answers[k]
		}
	}
	return math.NaN()
}
