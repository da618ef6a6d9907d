package summary

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/stats"
)

// The figures are those of the metrics that see all pairs at once.
func TestErrorsAgainstEvaluate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Float64Range(1e-6, 1e3)
		n := rapid.IntRange(1, 60).Draw(t, "n")
		actual, predicted := make([]float64, n), make([]float64, n)
		var e Errors
		for i := range n {
			actual[i], predicted[i] = seconds.Draw(t, "actual"), seconds.Draw(t, "predicted")
			e.Add(predicted[i], actual[i])
		}
		want, err := regression.Evaluate(actual, predicted)
		if err != nil {
			t.Fatal(err)
		}
		near := func(name string, got, want, share float64) {
			if math.IsNaN(got) != math.IsNaN(want) || !(math.Abs(got-want) <= share*math.Max(1e-12, math.Abs(want))) {
				t.Fatalf("%s %v, want %v", name, got, want)
			}
		}
		near("MAE", e.MAE(), want.MAE, 1e-9)
		near("MAPE", e.MAPE(), 100*want.MAPE, 1e-9)
		if !math.IsNaN(want.R2) {
			near("1-R2", 1-e.R2(), 1-want.R2, 1e-6)
		}
		errors := make([]float64, n)
		for i := range errors {
			errors[i] = math.Abs(predicted[i]-actual[i]) / actual[i]
		}
		if median := stats.Median(errors); n%2 == 1 && median > 1e-5 && median < 1e4 { // that of an even count lies between two
			near("median APE", e.MedianAPE(), 100*median, 0.006)
		}
	})
}

func TestErrorsWithoutPredictions(t *testing.T) {
	var e Errors
	for _, p := range [][2]float64{{0, 1}, {-1, 1}, {1, 0}, {math.NaN(), 1}, {1, math.Inf(1)}, {math.Inf(1), 1}} {
		e.Add(p[0], p[1])
	}
	if e.Count() != 0 || !math.IsNaN(e.MAE()) || !math.IsNaN(e.MAPE()) || !math.IsNaN(e.MedianAPE()) || !math.IsNaN(e.R2()) {
		t.Errorf("%+v", e)
	}
	var s Summary
	s.Score(&e)
	data, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(data), `"mape_percent":null`) {
		t.Errorf("%v: %s", err, data)
	}
	if !strings.Contains(s.Short(), "no tasks") {
		t.Error(s.Short())
	}
}

func TestPerfectPredictions(t *testing.T) {
	var e Errors
	e.Add(1, 1)
	e.Add(2, 2)
	if e.MedianAPE() != 0 || e.R2() != 1 || e.MAE() != 0 {
		t.Errorf("median %v, R2 %v", e.MedianAPE(), e.R2())
	}
}
