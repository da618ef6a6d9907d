package perfmodel

import (
	"math"
	"slices"
)

// mixture is the weighted middle of the answers of all models. A model's weight
// falls exponentially with how far its error of late lies above the least one's,
// as a share of it: what serves is near the best model where one is clearly
// best, and steadier than any where they are alike.
//
// Errors are of logarithms, for which too much and too little are alike; or, once
// those weights have answered worse than the plain median by relative error, as
// after stalls that they expect again, relative ones. Where these do not help
// either, the plain median answers alone.
type mixture struct {
	models     *models
	judged     [mostModels]int
	weighting  int          // of the ways below, what serves
	weightings [2]weighting // by errors of logarithms, by relative errors
	moments    []int        // models that answer for one moment
	momentary  bool         // one of them is clearly better than all others: else they are not worth their time
	runs       int
}

// weighting is one way to weigh the models, with what it earned.
type weighting struct {
	loss   [mostModels]float64 // rolling mean error
	weight [mostModels]float64
	runs   int     // of which the means below are
	off    float64 // rolling mean of the relative error of the weighted middle
	plain  float64 // that of the plain median
	nearer float64 // share of the runs that the weighted middle was nearer to
}

const (
	// mostLoss bounds one run's part of a loss, so that a stall does not choose
	// the model.
	mostLoss = 6
	// mostOff bounds one run's relative error.
	mostOff = 100
	// memory is about how many judged runs a loss stands on, and record those of
	// what a way earned: too few misses are far off for a short memory.
	memory, record = 256, 1024
	// minSaved is by how much, in sum, a way has to be nearer than the plain median
	// before it serves: by the time of one run.
	minSaved = 1
	// minNearer is the least share of the runs that it has to be nearer to besides.
	minNearer = 0.45
	// minJudged is how many runs must judge a model before it counts.
	minJudged = 4
	// minGain is how much better a model must be that has to be asked for every
	// task, besides a tenth: a percent.
	minGain = 0.01
	// priorRuns is how many runs of the process's other functions count for a
	// function that has none.
	priorRuns = 2 * minJudged
	// weighEvery is after how many judged runs the weights are made again.
	weighEvery = 8
	// contrast is how fast a weight falls: a model whose error is a tenth above
	// the least has exp(-contrast/10), a twentieth, of its weight.
	contrast = 30
)

// judge takes one run that the models answered for before it was learned.
func (m *mixture) judge(answers []float64, y float64) {
	for i := range m.weightings {
		m.weightings[i].judge(answers, y, answers[m.models.median])
	}
	for k, a := range answers {
		if math.IsNaN(a) {
			continue
		}
		m.judged[k]++
		n := float64(min(m.judged[k], memory))
		m.weightings[0].loss[k] += (math.Min(math.Abs(a-y), mostLoss) - m.weightings[0].loss[k]) / n
		m.weightings[1].loss[k] += (relative(a, y) - m.weightings[1].loss[k]) / n
	}
	if m.runs++; m.runs < memory/4 || m.runs%weighEvery == 0 {
		m.weigh(len(answers))
	}
}

// relative is the relative error of an answer.
func relative(a, y float64) float64 { return math.Min(math.Abs(math.Expm1(a-y)), mostOff) }

// judge compares the way with the plain median, where both answer.
func (w *weighting) judge(answers []float64, y, plain float64) {
	a, model := middle(answers, &w.weight)
	if model < 0 || math.IsNaN(plain) {
		return
	}
	w.runs++
	n := float64(min(w.runs, record))
	w.off += (relative(a, y) - w.off) / n
	w.plain += (relative(plain, y) - w.plain) / n
	w.nearer += (nearer(math.Abs(a-y), math.Abs(plain-y)) - w.nearer) / n
}

// nearer is 1 where the first distance is the shorter one, and a half where they
// are alike.
func nearer(d, other float64) float64 {
	switch {
	case d < other:
		return 1
	case d > other:
		return 0
	}
	return 0.5
}

// earned reports whether the way was better than the plain median: in the sum of
// relative errors, and about as often as not.
func (w *weighting) earned() bool {
	return (w.plain-w.off)*float64(min(w.runs, record)) >= minSaved && w.nearer >= minNearer
}

// prior is a mixture that begins with what this one knows, as if it had judged
// some runs itself.
func (m *mixture) prior() mixture {
	out := *m
	for k := range out.judged {
		out.judged[k] = min(out.judged[k], priorRuns)
	}
	out.runs = 0
	return out
}

// weigh makes the weights of n models from their losses, and chooses the way.
func (m *mixture) weigh(n int) {
	m.weighting = len(m.weightings)
	for i := range m.weightings {
		w := &m.weightings[i]
		w.weigh(m.judged[:n])
		if w.earned() {
			m.weighting = min(m.weighting, i)
		}
	}
	of, others := math.Inf(1), math.Inf(1)
	loss := &m.weightings[0].loss
	for k := range n {
		switch {
		case m.judged[k] < minJudged:
		case slices.Contains(m.moments, k):
			of = math.Min(of, loss[k])
		default:
			others = math.Min(others, loss[k])
		}
	}
	m.momentary = of+minGain < 0.9*others
}

func (w *weighting) weigh(judged []int) {
	least := math.Inf(1)
	for k, n := range judged {
		if n >= minJudged {
			least = math.Min(least, w.loss[k])
		}
	}
	for k, n := range judged {
		w.weight[k] = 0
		if n >= minJudged {
			w.weight[k] = math.Exp(-contrast * (w.loss[k] - least) / (least + 1e-3))
		}
	}
}

// weights are those that serve.
func (m *mixture) weights() *[mostModels]float64 {
	if m.weighting == len(m.weightings) {
		return &m.models.alone
	}
	return &m.weightings[m.weighting].weight
}

// middle is the answer that serves, see the function of this name.
func (m *mixture) middle(answers []float64) (y float64, model int) {
	return middle(answers, m.weights())
}

// middle is the weighted median of the answers, NaN where no model with a
// weight has one, and the model whose answer it is, or -1.
func middle(answers []float64, weight *[mostModels]float64) (y float64, model int) {
	var order [mostModels]int
	n, sum := 0, 0.0
	for k, a := range answers {
		if math.IsNaN(a) || weight[k] == 0 {
			continue
		}
		i := n
		for ; i > 0 && answers[order[i-1]] > a; i-- {
			order[i] = order[i-1]
		}
		order[i] = k
		n++
		sum += weight[k]
	}
	below := 0.0
	for _, k := range order[:n] {
		w := weight[k]
		if below+w < sum/2 {
			below += w
			continue
		}
		return answers[k], k
	}
	return math.NaN(), -1
}

// heaviest is the model with the most weight; the fallback before any has some.
func (m *mixture) heaviest() int {
	best, weight := m.models.local, m.weights()
	for k := range m.models.laws {
		if weight[k] > weight[best] {
			best = k
		}
	}
	return best
}
