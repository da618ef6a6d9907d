package policy

import (
	"errors"
	"math"
	"testing"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

type constant float64

func (c constant) WaitHours(*State) (uncertainty.Prediction, error) {
	return uncertainty.Point(float64(c)), nil
}

func TestDecide(t *testing.T) {
	// Five hours to go; waits of 0 to 9 hours, and 1000 hours long ago.
	waits := []float64{}
	for i := range 100 {
		waits = append(waits, float64(i%10)*3600)
	}
	waits = append(waits, 3.6e6)
	at := func(hours float64) *State {
		return &State{Now: int64(1e6), PredEnd: int64(1e6 + hours*3600), Waits: waits}
	}
	tests := []struct {
		name   string
		policy Policy
		hours  float64
		want   Decision
	}{
		{"reactive", Reactive{}, 0.1, Decision{}},
		{"never late", NeverLate{}, 48, Decision{Submit: true}},
		{"fixed, too early", Fixed{4}, 5, expecting(false, -1)},
		{"fixed, reached", Fixed{5}, 5, expecting(true, 0)},
		{"average, too early", Average{}, 5, expecting(false, -0.5)},
		{"average, reached", Average{}, 4, expecting(true, 0.5)},
		{"quantile, too early", Quantile{0.5}, 5.5, expecting(false, -0.5)},
		{"quantile, reached", Quantile{0.5}, 5, expecting(true, 0)},
		{"predicted", Predicted{constant(4), -1}, 5, expecting(true, -1)},
		{"predicted, too early", Predicted{constant(4), -0.5}, 5, expecting(false, -1)},
		{"predicted below nothing", Predicted{constant(-4), 0}, 5, expecting(false, -5)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.policy.Decide(at(tt.hours))
			got.Expected.Low, got.Expected.High, got.Expected.Level = tt.want.Expected.Low, tt.want.Expected.High, 0
			if err != nil || got != tt.want {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
	s := at(5)
	for _, p := range []Policy{QueueForecast{}, Futures{}} {
		if _, err := p.Decide(s); !errors.Is(err, ErrForecast) {
			t.Errorf("%T, no forecast: error %v", p, err)
		}
	}
	s.Forecast = func() ([]float64, error) { return []float64{6 * 3600, 2 * 3600}, nil }
	for full, want := range map[float64]Decision{1: expecting(true, 1), 0: expecting(false, -3), 0.75: expecting(true, 0)} {
		if d, err := (QueueForecast{full}).Decide(s); err != nil || d != want {
			t.Errorf("full %v: %+v, %v; want %+v", full, d, err, want)
		}
	}
	s.Draw = func() (Draws, error) { return Draws{stats.Sorted{3600, 3 * 3600}, stats.Sorted{0, 8 * 3600}}, nil }
	// Two fifths predict two hours, the medians are two and four.
	if d, err := (Futures{.5}).Decide(s); err != nil || d.Submit || math.Abs(d.Expected.Value-((2+2+4)/3.-5)) > 1e-9 {
		t.Errorf("futures: %+v, %v", d, err)
	}
	if d, err := (Futures{1}).Decide(s); err != nil || d.Submit || math.Abs(d.Expected.Value-((2+3+8)/3.-5)) > 1e-9 {
		t.Errorf("the longest futures: %+v, %v", d, err)
	}
	far := at(25)
	far.Forecast, far.Draw = s.Forecast, func() (Draws, error) { t.Error("drawn long before it matters"); return Draws{}, nil }
	if d, err := (Futures{.5}).Decide(far); err != nil || d.Submit {
		t.Errorf("%+v, %v", d, err)
	}
	for _, p := range []Policy{Average{}, Quantile{0.9}} {
		if d, err := p.Decide(&State{PredEnd: 3600}); err != nil || d.Submit {
			t.Errorf("%T without any wait: %+v, %v", p, d, err)
		}
	}
}

func expecting(submit bool, hours float64) Decision {
	return Decision{submit, uncertainty.Point(hours), true}
}
