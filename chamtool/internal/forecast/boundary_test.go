package forecast

import (
	"math"
	"testing"
)

// lagByDefinition returns the lag, at most 6, at which a series is closest to itself: a lag
// must leave two differences, and its mean difference must be below 0.6 of that of the lag
// chosen before.
func lagByDefinition(logs []float64) int {
	chosen, least := 1, math.Inf(1)
	for lag := 1; lag <= 6; lag++ {
		var differences []float64
		for i := range logs {
			if i-lag >= 0 {
				differences = append(differences, math.Abs(logs[i]-logs[i-lag]))
			}
		}
		if len(differences) < 2 {
			break
		}
		sum := 0.0
		for _, d := range differences {
			sum += d
		}
		if mean := sum / float64(len(differences)); mean < 0.6*least {
			chosen, least = lag, mean
		}
	}
	return chosen
}

// TestPeriodByDefinition compares the period of every short series of four loads, and of long
// periods in series of each length, with the definition.
func TestPeriodByDefinition(t *testing.T) {
	for length := 1; length <= 6; length++ {
		for code := range 1 << (2 * length) {
			logs := make([]float64, length)
			for i := range logs {
				logs[i] = float64(code >> (2 * i) & 3)
			}
			if got, want := findPeriod(logs), lagByDefinition(logs); got != want {
				t.Fatalf("%v: %d, want %d", logs, got, want)
			}
		}
	}
	for period := 1; period <= 8; period++ {
		for length := 1; length <= 30; length++ {
			logs := make([]float64, length)
			for i := range logs {
				logs[i] = float64(i % period * (i % period))
			}
			if got, want := findPeriod(logs), lagByDefinition(logs); got != want {
				t.Fatalf("period %d, %d loads: %d, want %d", period, length, got, want)
			}
		}
	}
}

// TestPeriodOfSix finds a period of six and none of seven.
func TestPeriodOfSix(t *testing.T) {
	for period, want := range map[int]int{5: 5, 6: 6, 7: 1} {
		var logs []float64
		for i := range 42 {
			logs = append(logs, []float64{0, 1, 4, 9, 16, 25, 36}[i%period])
		}
		if got := findPeriod(logs); got != want {
			t.Errorf("period %d: %d, want %d", period, got, want)
		}
	}
}

// TestSearches wants the period searched at growing distances, a quarter of the loads apart,
// and a quarter of 512 loads forgotten at once.
func TestSearches(t *testing.T) {
	m, err := Fit([]float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for n := 3; n <= 6; n++ {
		if err := m.Observe(1); err != nil {
			t.Fatal(err)
		}
		if m.search != n+1 {
			t.Errorf("%d loads: next search at %d", n, m.search)
		}
	}
	for n, due := 7, 7; n <= 512; n++ {
		if err := m.Observe(1); err != nil {
			t.Fatal(err)
		}
		if n == due {
			due = n + max(1, n/4)
		}
		if m.search != due || len(m.logs) != n {
			t.Fatalf("%d loads, want %d: next search at %d, want %d", len(m.logs), n, m.search, due)
		}
	}
	if err := m.Observe(2); err != nil {
		t.Fatal(err)
	}
	if len(m.logs) != 385 || m.search != 385+96 || m.logs[384] != math.Log(2) {
		t.Errorf("after 513 loads: %d kept, next search at %d", len(m.logs), m.search)
	}
}

// TestFirstInterval wants an interval after the 19th forecast of which a period of six could
// have shown: that of the 25th load.
func TestFirstInterval(t *testing.T) {
	m, err := Fit([]float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for n := 3; n <= 26; n++ {
		if err := m.Observe(1); err != nil {
			t.Fatal(err)
		}
		if m.Predict().IsBounded() != (n >= 25) {
			t.Errorf("after %d loads: %+v", n, m.Predict())
		}
	}
}

// TestAnswersBeforeAPeriod wants no answer while fewer loads than a period are known, and the
// median of eight seasons at most.
func TestAnswersBeforeAPeriod(t *testing.T) {
	m := Model{Period: 3, logs: []float64{4, 9}}
	for ahead, want := range map[int]float64{1: math.NaN(), 2: 4, 3: 9, 4: math.NaN(), 5: 4} {
		for _, e := range []expert{periodic, seasonal} {
			if got := m.answer(e, ahead); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("expert %d, %d ahead: %v, want %v", e, ahead, got, want)
			}
		}
	}
	m = Model{Period: 1, logs: []float64{1e9, 1e9, 1e9, 1e9, 1, 2, 3, 4, 5, 6, 7, 8}}
	if got := m.answer(seasonal, 1); got != 4.5 {
		t.Errorf("median %v of the last eight, want 4.5", got)
	}
}

// TestReviewOfFour compares with figures by hand. Loads of 1, 2, 4 and 2: the rules answer from
// the third on, the last load 2 and 4, and the load two iterations ago 1 and 2.
func TestReviewOfFour(t *testing.T) {
	r, err := NewReview([]float64{1, 2, 4, 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Iterations != 4 || len(r.Forecasts) != 2 || r.Rules[0].Coverage != nil {
		t.Errorf("%+v", r)
	}
	for i, want := range []struct{ mape, median float64 }{{75, 50}, {37.5, 0}} {
		rule := r.Rules[1+i]
		if float64(*rule.MAPE) != want.mape || !(math.Abs(float64(*rule.MedianAPE)-want.median) <= 0.002*want.median) {
			t.Errorf("%s: MAPE %v, median %v, want %+v", rule.Name, *rule.MAPE, *rule.MedianAPE, want)
		}
	}
	if _, err := NewReview([]float64{1, 2, 0}); err == nil {
		t.Error("a load of zero")
	}
}
