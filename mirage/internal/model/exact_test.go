package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foretime/foretime/mirage/internal/samples"
)

// TestMarginsByTrying compares the margin with the cheapest of all quarters of an hour; of equal
// ones the nearest to none counts.
func TestMarginsByTrying(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		n := 1 + rng.IntN(4)
		cost := float64(rng.IntN(4))
		var predicted, actual []float64
		for range n {
			predicted, actual = append(predicted, float64(rng.IntN(120)-20)/4), append(actual, float64(rng.IntN(160))/4)
		}
		best, least := 0.0, math.Inf(1)
		for quarters := -48; quarters <= 48; quarters++ {
			from, sum := float64(quarters)/4, 0.0
			for i := range actual {
				ahead := max(predicted[i], 0) - from
				if ahead < 0 {
					ahead = 0
				}
				if late := actual[i] - ahead; late > 0 {
					sum += late
				} else {
					sum -= cost * late
				}
			}
			sum /= float64(n)
			nearer := math.Abs(from) < math.Abs(best) || math.Abs(from) == math.Abs(best) && from > best
			if sum < least-1e-9 || sum < least+1e-9 && nearer {
				best, least = from, sum
			}
		}
		from, mean := margin(predicted, actual, cost)
		if from != best || math.Abs(mean-least) > 1e-9 {
			t.Errorf("round %d: from %v at %v, want %v at %v; predicted %v, actual %v, cost %v", round, from, mean, best, least, predicted, actual, cost)
		}
	}
	// A wait of 20 h predicted as 4 would be begun 16 h ahead; 12 is the most that is tried.
	if from, _ := margin([]float64{4}, []float64{20}, 1); from != -12 {
		t.Errorf("from %v, want -12", from)
	}
	if from, _ := margin([]float64{20}, []float64{4}, 1); from != 12 {
		t.Errorf("from %v, want 12", from)
	}
}

// TestFeaturesByHand checks the time of day on a circle, and the queue's predictions in hours.
func TestFeaturesByHand(t *testing.T) {
	got := features([]float64{5}, 3*86400+6*3600, 7, 3600, 7200, 1800)
	want := []float64{5, 1, 0, 7, 1, 2, .5}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("feature %d is %v, want %v", i, got[i], want[i])
		}
	}
	s := samples.Sample{X: []float64{5}, Decision: 18 * 3600, PredEnd: 18*3600 + 1800, MeanWait: 7, ForecastFull: 3600, ForecastPart: 7200}
	got = sampleFeatures(&s)
	if want[1] = -1; math.Abs(got[1]+1) > 1e-12 || math.Abs(got[6]-.5) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}

// setOf returns samples a second apart whose outcomes are known after so many.
func setOf(n int, known int64) *samples.Set {
	set := &samples.Set{}
	for i := range n {
		at := int64(1000 + (i*7)%n)
		set.Samples = append(set.Samples, samples.Sample{Episode: i, Decision: at, SuccStart: at + known, X: []float64{float64(at)}})
	}
	return set
}

// The last part judges, and that part is learnt from whose outcome was known
// before it begins.
func TestSplitsByTime(t *testing.T) {
	held := int(heldOutShare * 200)
	for known, want := range map[int64]int{0: 200 - held, 1: 200 - held - 1, 9: 200 - held - 9} {
		train, judge, left, err := split([]*samples.Set{setOf(200, known)}, 0)
		if err != nil || train.Len() != want || judge.Len() != held || left != 200-held-want {
			t.Errorf("known after %d s: %d learnt, %d judged, %d left out, %v; want %d, %d", known, train.Len(), judge.Len(), left, err, want, held)
		}
		if judge.Row(0)[0] != float64(1000+200-held) || judge.Y[0] != float64(known)/3600 {
			t.Errorf("the first judged is at %v with %v h", judge.Row(0)[0], judge.Y[0])
		}
	}
	for n, good := range map[int]bool{49: false, 50: false, 90: true} {
		_, _, _, err := split([]*samples.Set{setOf(n, 0)}, 0)
		if (err == nil) != good || err != nil && !errors.Is(err, ErrSamples) {
			t.Errorf("%d samples: %v", n, err)
		}
	}
	// Two sets of fifty have enough to learn from together; 49 in one are too few.
	if train, judge, _, err := split([]*samples.Set{setOf(50, 0), setOf(50, 0)}, 0); err != nil || train.Len()+judge.Len() != 100 {
		t.Errorf("two sets of fifty: %v", err)
	}
	if _, _, _, err := split([]*samples.Set{setOf(200, 0), setOf(49, 0)}, 0); !errors.Is(err, ErrSamples) {
		t.Errorf("49 in a set: %v", err)
	}
}

// Episodes whose outcome came too late are left out as a whole.
func TestUsableSamples(t *testing.T) {
	set := &samples.Set{Samples: []samples.Sample{{Episode: 0, Decision: 9, SuccStart: 40}, {Episode: 0, Decision: 10, SuccStart: 50}, {Episode: 1, Decision: 5, SuccStart: 49}, {Episode: 2, Decision: 3, SuccStart: 3603}}}
	for _, tt := range []struct {
		until, last int64
		want        []int64
	}{
		{0, 0, []int64{3, 5, 9, 10}}, {50, 0, []int64{5}}, {51, 0, []int64{5, 9, 10}}, {49, 0, nil}, {0, 50, []int64{5, 9, 10}}, {0, 49, []int64{5}}, {0, 3603, []int64{3, 5, 9, 10}}, {1, 0, nil}, {0, 1, nil},
	} {
		set.Manifest.LastSubmit = tt.last
		rows, left := usable(set, tt.until)
		var got []int64
		for _, r := range rows {
			got = append(got, r.Decision)
		}
		if !slices.Equal(got, tt.want) || left != 4-len(tt.want) {
			t.Errorf("%+v: %v, %d left out", tt, got, left)
		}
	}
	set.Manifest.LastSubmit = 0
	if rows, _ := usable(set, 0); rows[0].Hours != 1 || rows[0].Known != 3603 {
		t.Errorf("%+v", rows[0])
	}
}
