package timing

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLatencies(t *testing.T) {
	var l Latencies
	if _, err := l.Summary(); !errors.Is(err, ErrNoLatency) {
		t.Errorf("empty: %v", err)
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if l.Add(bad) == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	// R 4.2: quantile(1:10, c(0.5, 0.9, 0.99), type=1) = 5, 9, 10.
	for i := 10; i >= 1; i-- {
		l.Add(float64(i))
	}
	got, err := l.Summary()
	if want := (LatencySummary{10, 1, 5.5, 5, 9, 10, 10}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	var one Latencies
	one.Add(0)
	if got, _ := one.Summary(); got != (LatencySummary{Count: 1}) {
		t.Errorf("one zero: %+v", got)
	}
}

// TestLatenciesInBuckets checks that quantiles from buckets equal those of the
// values within 0.5 %.
func TestLatenciesInBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.Float64Range(-8, 4).Draw(t, "scale")
		n := rapid.IntRange(exactLatencies+1, exactLatencies+200).Draw(t, "n")
		x := rapid.Uint64().Draw(t, "seed")
		var bucketed Latencies
		exact := make([]float64, n)
		for i := range exact {
			x = x*6364136223846793005 + 1442695040888963407
			exact[i] = math.Pow(10, scale+float64(x>>40)/float64(1<<24))
			if x>>60 == 0 {
				exact[i] = 0
			}
			if err := bucketed.Add(exact[i]); err != nil {
				t.Fatal(err)
			}
		}
		kept := Latencies{values: exact, n: int64(n)}
		want, _ := kept.Summary()
		got, _ := bucketed.Summary()
		for _, pair := range [][2]float64{{got.P50, want.P50}, {got.P90, want.P90}, {got.P99, want.P99}} {
			if !(math.Abs(pair[0]-pair[1]) <= 0.0051*pair[1]) {
				t.Fatalf("got %v, want %v", pair[0], pair[1])
			}
		}
	})
}
