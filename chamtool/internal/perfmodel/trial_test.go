package perfmodel

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// A function that takes fifteen times as long as when its runs were kept is
// known again within twenty runs; one that did not change keeps what was known.
func TestKeptRunsAreOnTrial(t *testing.T) {
	kept := taughtBy(t, 3000, 1).TakeRuns(time.Unix(1e9, 0))
	for _, factor := range []float64{1, 1.1, 15, 1.0 / 15} {
		m := New(Auto)
		m.Teach(kept)
		e := m.Entry("app:f")
		r := rand.New(rand.NewPCG(3, 3))
		for range 20 {
			size := 1000 + r.Int64N(100_000)
			e.Observe(e.Footprint([]int64{size}), factor*truth(r, size, 0.01))
		}
		misses := 0
		for range 100 {
			size := 1000 + r.Int64N(100_000)
			p, err := e.Predict(e.Footprint([]int64{size}))
			if err != nil || math.Abs(math.Log(p.Value/(factor*truth(r, size, 0)))) > 0.25 {
				misses++
			}
		}
		if changed := factor > 2 || factor < 0.5; misses > 10 || e.HasDroppedKept() != changed {
			t.Errorf("factor %v: %d of 100 are off by a quarter, overturned %v", factor, misses, e.HasDroppedKept())
		}
		again := m.TakeRuns(time.Unix(2e9, 0))
		if n := len(again.Runs("app:f")); n != 20 || again.Replaces["app:f"] != e.HasDroppedKept() {
			t.Errorf("factor %v: %d runs to keep, anew %v", factor, n, again.Replaces)
		}
		if n := m.TakeRuns(time.Unix(2e9, 0)).Len(); n != 0 {
			t.Errorf("told twice: %d entries", n)
		}
	}
}

// As few kept runs as teach nothing of sizes that never ran teach a later process nothing of
// them either; one more, and it knows all of them before its first run.
func TestFewKeptRuns(t *testing.T) {
	for _, n := range []int{1, FirstFit - 1, FirstFit, 2*FirstFit - 1} {
		var runs []StoredRun
		for i := range n {
			size := int64(1000 * (i + 1))
			runs = append(runs, StoredRun{[]int64{size}, 1e-6 * float64(size)})
		}
		m, kept := New(Auto), &Store{}
		kept.Set("f", 0, runs)
		m.Teach(kept)
		e := m.Entry("f")
		last := float64(n) * 1e-3
		p, err := e.Predict(e.Footprint([]int64{int64(1000 * n), 1}))
		if n < FirstFit && !errors.Is(err, ErrUntrained) || n >= FirstFit && (err != nil || e.fits == 0 || math.Abs(p.Value/last-1) > 0.1) {
			t.Errorf("%d runs: %v, want %v; %v", n, p.Value, last, err)
		}
	}
}

// What was kept of sizes that have not run since is dropped with the rest.
func TestOverturnedSizes(t *testing.T) {
	var runs []StoredRun
	for i := range 400 {
		runs = append(runs, StoredRun{[]int64{int64(1000 * (1 + i%20))}, 1e-3})
	}
	m := New(Auto)
	kept := &Store{}
	kept.Set("f", 0, runs)
	m.Teach(kept)
	e := m.Entry("f")
	for i := range 30 {
		e.Observe(e.Footprint([]int64{int64(1000 * (1 + i%10))}), 0.1)
	}
	p, err := e.Predict(e.Footprint([]int64{15_000}))
	if !e.HasDroppedKept() || err != nil || !(math.Abs(p.Value-0.1) <= 0.01) {
		t.Errorf("overturned %v, %v (%v)", e.HasDroppedKept(), p.Value, err)
	}
}

// Intervals have no ends while kept runs are on trial.
func TestTrialPromisesNothing(t *testing.T) {
	m := New(Auto)
	m.Teach(taughtBy(t, 3000, 1).TakeRuns(time.Unix(1e9, 0)))
	e := m.Entry("app:f")
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 20 {
		size := 1000 + r.Int64N(100_000)
		p, err := e.Predict(e.Footprint([]int64{size}))
		if err != nil || p.IsBounded() != (i >= consecutiveRuns) {
			t.Errorf("after %d runs: %+v (%v)", i, p.Prediction, err)
		}
		e.Observe(e.Footprint([]int64{size}), truth(r, size, 0.01))
	}
}

// In a deep recursion the short leaves end first, so most intervals have no ends; in a flat one they
// hold what they promise.
func TestRecursion(t *testing.T) {
	for _, depth := range []int{10, 500} {
		e := New(Auto).Entry("visit")
		r := rand.New(rand.NewPCG(4, 4))
		f := e.Footprint(nil)
		given := 0
		inside := 0
		for range 10_000 / depth {
			var waiting []*Prediction
			for range depth {
				e.Begin()
				p := &Prediction{}
				if e.IsReady(f) {
					p = e.PredictAt(f, Moment{}, p)
				}
				waiting = append(waiting, p)
			}
			for level := range depth { // the last one began at the leaf
				p := waiting[depth-1-level]
				seconds := 1e-6 * float64(1+10*level/depth) * math.Exp(0.1*r.NormFloat64())
				if p.IsBounded() {
					given++
				}
				if p.IsBounded() && p.Contains(seconds) {
					inside++
				}
				e.ObserveAt(f, Moment{}, p, seconds)
			}
		}
		share := float64(inside) / float64(given)
		if flat := depth < deepRecursion; flat && (share < 0.87 || given < 9000) || !flat && given > 2000 {
			t.Errorf("depth %d: %.3f of %d intervals hold their run", depth, share, given)
		}
	}
}

// Runs whose end was lost leave the intervals open until the iteration ends.
func TestLostEnds(t *testing.T) {
	e := New(Auto).Entry("f")
	f := e.Footprint(nil)
	for range 1000 {
		e.Observe(f, 1e-3)
	}
	for range 2 * deepRecursion {
		e.Begin()
	}
	if p := e.PredictAt(f, Moment{}, &Prediction{}); p.IsBounded() {
		t.Errorf("%+v with runs under way", p.Prediction)
	}
	e.ForgetRunning()
	if p := e.PredictAt(f, Moment{}, &Prediction{}); !p.IsBounded() {
		t.Errorf("%+v after the iteration", p.Prediction)
	}
}
