package perfmodel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestLocalLaw: offsets lie straight between the knots and are constant beyond them.
func TestLocalLaw(t *testing.T) {
	if got := new(localLaw).log(1); got != 0 {
		t.Errorf("without a knot: %v", got)
	}
	l := localLaw{at: []float64{1, 3, 4}, off: []float64{10, 30, 10}}
	for at, want := range map[float64]float64{-5: 10, 1: 10, 1.5: 15, 2: 20, 3: 30, 3.25: 25, 4: 10, 9: 10} {
		if got := l.log(at); got != want {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
}

// Runs of equal sizes lie at the same place: the last four stretches of them make its
// offset, 80 runs here.
func TestLocalLawOfEqualPlaces(t *testing.T) {
	var runs []place
	for i := range 400 {
		runs = append(runs, place{at: float64(i % 2), off: float64(i / 4), order: i})
	}
	var l localLaw
	if l.fit(runs); len(l.at) != 2 || l.off[0] != 78 || l.off[1] != 78 {
		t.Errorf("%+v, want two knots at the quantile 0.45 of 60 to 99", l)
	}
}

// A function whose work changes its kind at a threshold of one size is predicted along that
// size, which a power law of both sizes does not follow.
func TestThreshold(t *testing.T) {
	e := New(Auto).Entry("sort")
	seconds := func(a, b int64) float64 {
		if b < 20000 {
			return 1e-7 * float64(b)
		}
		return 2e-9 * float64(b)
	}
	random := rand.New(rand.NewPCG(1, 2))
	sizes := func() []int64 { return []int64{random.Int64N(1 << 20), int64(1000 * math.Exp(5*random.Float64()))} }
	for range 2000 {
		s := sizes()
		e.Observe(e.Footprint(s), seconds(s[0], s[1]))
	}
	var misses []float64
	for range 200 {
		s := sizes()
		p, err := e.Predict(e.Footprint(s))
		if err != nil {
			t.Fatal(err)
		}
		misses = append(misses, math.Abs(math.Log(p.Value/seconds(s[0], s[1]))))
	}
	if m := stat.Mean(misses, nil); m > 0.1 {
		t.Errorf("mean error of logarithms %.3f for sizes that never ran, want below 0.1", m)
	}
}

// TestNearestCreation: of two creations that are as far away, the earlier one counts.
func TestNearestCreation(t *testing.T) {
	var c creations
	c.add(10, 1)
	c.add(14, 2)
	c.add(14, 3)
	for created, want := range map[uint64]float64{1: 1, 11: 1, 12: 1, 14: 3, 20: 3} {
		if got := c.next(created); got != want {
			t.Errorf("created at %d: %v, want %v", created, got, want)
		}
	}
}
