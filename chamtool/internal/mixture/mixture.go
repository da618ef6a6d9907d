package mixture

import "math"

// MaxExperts is the most experts of a mixture.
const MaxExperts = 4

// Answers are the experts' logarithms of a time, NaN where one sleeps.
type Answers [MaxExperts]float64

// Mixture is the weights of a few experts. The zero value knows none; see [New].
type Mixture struct {
	experts int
	size    float64             // the logarithm of their number
	excess  [MaxExperts]float64 // what each lost beyond the mixture, in sum
	gap     float64             // Δ of the paper: what mixing cost so far, which sets the rate
	Weights [MaxExperts]float64 // the experts' shares; their sum is 1
}

// New begins with experts of equal weight.
func New(experts int) Mixture {
	m := Mixture{experts: experts, size: math.Log(float64(experts))}
	for k := range experts {
		m.Weights[k] = 1 / float64(experts)
	}
	return m
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

// Observe learns what came, a logarithm, where the experts had answered.
func (m *Mixture) Observe(answers *Answers, actual float64) {
	weights := m.Weights
	var loss [MaxExperts]float64
	awake, mean := 0.0, 0.0
	least := math.Inf(1)
	for k, a := range answers[:m.experts] {
		if math.IsNaN(a) {
			weights[k] = 0
			continue
		}
		loss[k] = lossOf(a, actual)
		awake += weights[k]
		mean += weights[k] * loss[k]
		least = min(least, loss[k])
	}
	if !(awake > 0) {
		return
	}
	mean /= awake
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

// rate returns η: the logarithm of the number of experts over Δ.
func (m *Mixture) rate() float64 { return m.size / m.gap }

// minRecord is the smallest record of an expert relative to the best: an expert that was bad for
// long recovers in the number of runs that gains a factor of five, however long it was bad. Of
// 0.05, 0.1 and 0.2 it was the best, whichever log was left out.
const minRecord = 0.2

// weigh recomputes the weights. No record is below the floor.
func (m *Mixture) weigh() {
	rate, best := m.rate(), math.Inf(1)
	if math.IsInf(rate, 1) {
		return
	}
	for _, e := range m.excess[:m.experts] {
		best = min(best, e)
	}
	sum := 0.0
	for k, e := range m.excess[:m.experts] {
		m.excess[k] = min(e-best, -math.Log(minRecord)/rate) // a common shift changes nothing
		m.Weights[k] = 1
		if m.excess[k] > 0 {
			m.Weights[k] = math.Exp(-rate * m.excess[k])
		}
		sum += m.Weights[k]
	}
	for k := range m.experts {
		m.Weights[k] /= sum
	}
}

// Answer returns the weighted median of the answers, NaN where no expert is awake.
func (m *Mixture) Answer(answers *Answers) float64 {
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
		sum += m.Weights[k]
	}
	below := 0.0
	for _, k := range order[:n] {
		if below += m.Weights[k]; below >= sum/2 {
			return answers[k]
		}
	}
	return math.NaN()
}
