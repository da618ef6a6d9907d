package policy

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/uncertainty"
)

// futuristic is a queue of which all is known, in hours: when a successor starts, or would if
// it were submitted by then.
type futuristic struct {
	part, full    float64
	drained, open [8]float64
	rise          float64 // starts with arrivals come so much later for each hour of delay
}

func (q *futuristic) Forecast(share float64, after int64) (float64, error) {
	if share == 1 {
		return 3600 * q.full, nil
	}
	return max(3600*q.part, float64(after)), nil
}

func (q *futuristic) Draw(number int, back, after int64) (float64, error) {
	start := 3600 * q.drained[number]
	if back > 0 {
		start = 3600*q.open[number] + q.rise*float64(after)
	}
	return max(start, float64(after)), nil
}

// TestFuturesStand: the answer stands for half of the time until the successor is to be
// submitted, or less.
func TestFuturesStand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hours := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 24*7*4).Draw(t, "quarters")) / 4 })
		q := &futuristic{part: hours.Draw(t, "part"), rise: rapid.Float64Range(0, 3).Draw(t, "rise")}
		for i := range q.open {
			q.drained[i], q.open[i] = hours.Draw(t, "drained"), hours.Draw(t, "open")
		}
		s := &State{PredEnd: 1800 * rapid.Int64Range(0, 400).Draw(t, "half hours left"), Queue: func() (Queue, error) { return q, nil }}
		p := Futures{rapid.SampledFrom([]float64{0, .1, .25, .5, .75, 6. / 7, 1}).Draw(t, "quantile")}
		d, err := p.Decide(s)
		if err != nil || d.Submit != (d.Expected.Value >= 0) {
			t.Fatalf("%+v, %v", d, err)
		}
		if left := -d.Expected.Value * 3600; d.Submit && d.Next != 0 || !d.Submit && !(float64(d.Next) <= left/2) {
			t.Fatalf("%v s before the successor is to be submitted, the answer stands for %d s", left, d.Next)
		}
	})
}

// TestFuturesLookAhead: five hours before the end a successor starts at once, and others arrive
// all the time. It waits for the latest decision at which a submission is in time.
func TestFuturesLookAhead(t *testing.T) {
	const hour = 3600
	for _, tt := range []struct {
		rise, quantile float64
		interval, next int64 // in seconds; the next one 0 is to submit now
	}{
		{0, .5, 600, 2.5 * hour},
		{1, .5, 600, 2.5 * hour},
		{8, .5, 600, 1.25 * hour}, // (1.25 + 1.25 + 10 h) / 3
		{20, .5, hour, 0},
		{20, .5, 600, 1.25 * hour / 2},
	} {
		s := &State{PredEnd: 5 * hour, Interval: tt.interval, Queue: func() (Queue, error) { return &futuristic{rise: tt.rise}, nil }}
		d, err := Futures{tt.quantile}.Decide(s)
		if err != nil || d.Submit != (tt.next == 0) || d.Next != tt.next {
			t.Errorf("%+v: submit %v, next decision after %d s, %v", tt, d.Submit, d.Next, err)
		}
	}
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
		{"reactive", Fixed{}, 0.1, Decision{}},
		{"never late", Fixed{LeadHours: math.Inf(1)}, 48, Decision{Submit: true}},
		{"fixed, too early", Fixed{4}, 5, expecting(false, -1)},
		{"fixed, reached", Fixed{5}, 5, expecting(true, 0)},
		{"average, too early", Average{}, 5, expecting(false, -0.5)},
		{"average, reached", Average{}, 4, expecting(true, 0.5)},
		{"quantile, too early", Quantile{0.5}, 5.5, expecting(false, -0.5)},
		{"quantile, reached", Quantile{0.5}, 5, expecting(true, 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.policy.Decide(at(tt.hours))
			got.Expected.Low, got.Expected.High, got.Expected.Level = tt.want.Expected.Low, tt.want.Expected.High, 0
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		wait, from float64
		want       Decision
	}{{4, -1, expecting(true, -1)}, {4, -.5, expecting(false, -1)}, {-4, 0, expecting(false, -5)}} {
		d := Expecting(at(5), uncertainty.Point(tt.wait), tt.from)
		if d.Expected.Low = math.Inf(-1); !reflect.DeepEqual(d, tt.want) {
			t.Errorf("predicted: %+v, want %+v", d, tt.want)
		}
	}
	s := at(5)
	for _, p := range []Policy{QueueForecast{}, Futures{}} {
		if _, err := p.Decide(s); !errors.Is(err, ErrForecast) {
			t.Errorf("%T, no forecast: error %v", p, err)
		}
	}
	s.Queue = func() (Queue, error) { return &futuristic{part: 2, full: 6}, nil }
	if d, err := (QueueForecast{}).Decide(s); err != nil || !reflect.DeepEqual(d, expecting(false, -3)) {
		t.Errorf("%+v, %v; want three hours too early", d, err)
	}
	// Two fifths predict two hours, the medians are two and four.
	made := &futuristic{part: 2, full: 6, drained: [8]float64{1, 1, 3, 3, 1, 3, 3, 1}, open: [8]float64{0, 8, 0, 8, 0, 8, 0, 8}}
	s.Queue = func() (Queue, error) { return made, nil }
	if d, err := (Futures{.5}).Decide(s); err != nil || d.Submit || math.Abs(d.Expected.Value-((2+2+4)/3.-5)) > 1e-9 {
		t.Errorf("futures: %+v, %v", d, err)
	} else if n := len(d.Curve); n != len(wait.Quantiles(intervalLevel, func(p float64) float64 { return p }).Curve()) || d.Curve[n/2].Seconds != 3600*8/3. || d.Curve[0].Seconds >= d.Curve[n-1].Seconds {
		t.Errorf("curve %v", d.Curve)
	}
	if d, err := (Futures{1}).Decide(s); err != nil || d.Submit || math.Abs(d.Expected.Value-((2+3+8)/3.-5)) > 1e-9 {
		t.Errorf("the longest futures: %+v, %v", d, err)
	}
	for _, p := range []Policy{Average{}, Quantile{0.9}} {
		if d, err := p.Decide(&State{PredEnd: 3600}); err != nil || d.Submit {
			t.Errorf("%T without any wait: %+v, %v", p, d, err)
		}
	}
}

func expecting(submit bool, hours float64) Decision {
	return Decision{Submit: submit, Expected: uncertainty.Point(hours), Expects: true}
}
