package mixture

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// one is answers of which only some are awake.
func one(awake ...float64) Answers {
	a := Answers{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	copy(a[:], awake)
	return a
}

// The first rounds by hand, two experts of losses (0, 1) and (0, 1): the first mixes
// at an infinite rate, so Δ = 1/2 - 0; then η = ln 2 / (1/2) and the second's weight
// is 1/4 of the first's, which the floor does not touch.
func TestFirstRounds(t *testing.T) {
	m := New(2)
	a := one(0, 1)
	m.Observe(&a, 0)
	if m.gap != 0.5 || m.rate() != 2*math.Ln2 {
		t.Fatalf("Δ %v, η %v", m.gap, m.rate())
	}
	if w := m.Weights; !(math.Abs(w[0]-0.8) <= 1e-12) || !(math.Abs(w[1]-0.2) <= 1e-12) {
		t.Errorf("weights %v", w)
	}
	// Hedge loss .2, mix loss -ln(.8 + .2/4)/(2 ln 2) = .11724.
	m.Observe(&a, 0)
	if !(math.Abs(m.gap-(0.5+0.2+math.Log(0.85)/(2*math.Ln2))) <= 1e-12) {
		t.Errorf("Δ %v", m.gap)
	}
}

// The loss is the distance of the logarithms: without a bound where an answer is too
// high, at most 1 where it is too low.
func TestLoss(t *testing.T) {
	for _, tt := range []struct{ answer, actual, want float64 }{
		{2, 2, 0}, {3, 2, 1}, {4.5, 2, 2.5}, {12, 2, 10}, {1.5, 2, 0.5}, {1, 2, 1}, {0.9, 2, 1}, {-0.5, 2, 1}, {-10, 2, 1},
	} {
		if got := lossOf(tt.answer, tt.actual); !(math.Abs(got-tt.want) <= 1e-12) {
			t.Errorf("answer %v, truth %v: loss %v, want %v", tt.answer, tt.actual, got, tt.want)
		}
	}
}

// Scaling all losses changes no weight: that is what AdaHedge is for.
func TestScaleFree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	small, large := New(3), New(3)
	for range 200 {
		y := r.Float64() // below all answers: losses are distances, without a bound
		x := one(y+r.Float64(), y+r.Float64(), y+0.5*r.Float64())
		z := one(y+100*(x[0]-y), y+100*(x[1]-y), y+100*(x[2]-y))
		small.Observe(&x, y)
		large.Observe(&z, y)
	}
	for k, w := range small.Weights {
		if !(math.Abs(w-large.Weights[k]) <= 1e-6) {
			t.Fatalf("%v and %v", small.Weights, large.Weights)
		}
	}
	if w := small.Weights; w[2] < max(w[0], w[1]) {
		t.Errorf("weights %v", small.Weights)
	}
}

// Who sleeps neither gains nor loses, and answers when it is awake alone.
func TestSleeping(t *testing.T) {
	m := New(3)
	first := one(0.1, 0.6)
	m.Observe(&first, 0)
	w := m.Weights
	if !(w[0] > w[2] && w[2] > w[1]) {
		t.Errorf("weights %v: the sleeper belongs between", w)
	}
	a := one(math.NaN(), 7)
	if y := m.Answer(&a); y != 7 {
		t.Errorf("%v", y)
	}
	a = one()
	if y := m.Answer(&a); !math.IsNaN(y) {
		t.Errorf("%v", y)
	}
}

// An expert that was bad for a thousand runs serves within thirty once the others are.
func TestFloor(t *testing.T) {
	m := New(2)
	for i := range 1030 {
		a := one(0, 0.5)
		if i >= 1000 {
			a = one(0.5, 0)
		}
		m.Observe(&a, 0)
	}
	if w := m.Weights; w[1] < w[0] {
		t.Errorf("weights %v", m.Weights)
	}
}

// Whatever came: weights are shares, and the weighted median loses at most twice the
// weighted mean.
func TestWeightedMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(rapid.IntRange(1, MaxExperts).Draw(t, "experts"))
		answer := rapid.OneOf(rapid.Float64Range(-20, 20), rapid.Just(math.NaN()))
		for range rapid.IntRange(1, 40).Draw(t, "runs") {
			var a Answers
			for k := range a {
				a[k] = answer.Draw(t, "answer")
			}
			actual, weights := rapid.Float64Range(-20, 20).Draw(t, "actual"), m.Weights
			sum, mean, awake := 0.0, 0.0, 0.0
			for k := range m.experts {
				sum += weights[k]
				if !math.IsNaN(a[k]) {
					awake += weights[k]
					mean += weights[k] * lossOf(a[k], actual)
				}
			}
			y := m.Answer(&a)
			if !(math.Abs(sum-1) <= 1e-9) || math.IsNaN(y) != (awake == 0) {
				t.Fatalf("weights %v, answer %v", weights, y)
			}
			if awake > 0 && lossOf(y, actual) > 2*mean/awake+1e-9 {
				t.Fatalf("the answer loses %v, the mean %v", lossOf(y, actual), mean/awake)
			}
			m.Observe(&a, actual)
		}
	})
}
