package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// reference is AdaHedge as the paper states it, with losses in sum and without a shift of
// them; no expert's record is below a fifth of the best.
type reference struct {
	excess []float64
	gap    float64
}

func (r *reference) weights() []float64 {
	n := len(r.excess)
	w := make([]float64, n)
	rate, best, sum := math.Log(float64(n))/r.gap, slices.Min(r.excess), 0.0
	for k, e := range r.excess {
		w[k] = 1
		if r.gap > 0 {
			w[k] = max(math.Exp(-rate*(e-best)), 0.2)
		}
		sum += w[k]
	}
	for k := range w {
		w[k] /= sum
	}
	return w
}

func (r *reference) observe(answers []float64, actual float64) {
	w := r.weights()
	mean, awake, mix, least := 0.0, 0.0, 0.0, math.Inf(1)
	loss := make([]float64, len(answers))
	rate := math.Log(float64(len(answers))) / r.gap
	for k, a := range answers {
		if math.IsNaN(a) {
			continue
		}
		loss[k] = math.Abs(a - actual)
		if a < actual {
			loss[k] = min(loss[k], 1)
		}
		awake += w[k]
		mean += w[k] * loss[k]
		mix += w[k] * math.Exp(-rate*loss[k])
		least = min(least, loss[k])
	}
	if awake == 0 {
		return
	}
	mean /= awake
	mixed := -math.Log(mix/awake) / rate
	if r.gap == 0 {
		mixed = least
	}
	r.gap += max(0, mean-mixed)
	for k, a := range answers {
		if !math.IsNaN(a) {
			r.excess[k] += loss[k] - mean
		}
	}
	if r.gap == 0 {
		return
	}
	best := slices.Min(r.excess) // a floor of the record: what was lost beyond it is forgotten
	for k := range r.excess {
		r.excess[k] = min(r.excess[k], best+math.Log(5)*r.gap/math.Log(float64(len(answers))))
	}
}

// TestAgainstTheDefinition compares weights and answers with the definitions over streams in
// which experts sleep, agree, and are much too low or too high.
func TestAgainstTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for stream := range 60 {
		n := 2 + stream%3
		m, ref := New(n), reference{excess: make([]float64, n)}
		for round := range 50 {
			a := Answers{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
			for k := range n {
				if r.IntN(5) > 0 {
					a[k] = float64(r.IntN(9)-4) / 2 * float64(1+stream%2)
				}
			}
			checkAnswer(t, &m, &a, ref.weights())
			actual := float64(r.IntN(5)-2) / 2
			m.Observe(&a, actual)
			ref.observe(a[:n], actual)
			for k, want := range ref.weights() {
				if got := m.Weights[k]; !(math.Abs(got-want) <= 1e-9) {
					t.Fatalf("stream %d, round %d: weights %v, want %v", stream, round, m.Weights, ref.weights())
				}
			}
		}
	}
}

// checkAnswer compares an answer with the smallest one that half of the awake weight does not
// exceed.
func checkAnswer(t *testing.T, m *Mixture, a *Answers, weights []float64) {
	t.Helper()
	awake := 0.0
	for k, w := range weights {
		if !math.IsNaN(a[k]) {
			awake += w
		}
	}
	want, doubt := math.NaN(), false
	for _, y := range slices.Sorted(slices.Values(a[:])) {
		below := 0.0
		for k, w := range weights {
			if a[k] <= y {
				below += w
			}
		}
		doubt = doubt || awake > 0 && math.Abs(below-awake/2) < 1e-9
		if math.IsNaN(want) && awake > 0 && below >= awake/2 {
			want = y
		}
	}
	if got := m.Answer(a); got != want && !(math.IsNaN(got) && math.IsNaN(want)) && !doubt {
		t.Fatalf("answer %v of %v with weights %v, want %v", got, a, weights, want)
	}
}

// TestMedianOfEqualWeights wants the lower of two experts of equal weight, and the middle one
// of three.
func TestMedianOfEqualWeights(t *testing.T) {
	for _, tt := range []struct {
		experts int
		answers Answers
		want    float64
	}{
		{2, one(3, 1), 1}, {2, one(1, 3), 1}, {3, one(3, 1, 2), 2}, {4, Answers{4, 3, 2, 1}, 2}, {4, Answers{1, 2, 4, 3}, 2}, {1, one(7), 7},
	} {
		m := New(tt.experts)
		if got := m.Answer(&tt.answers); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.answers, got, tt.want)
		}
	}
}
