package policy

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/foretime/foretime/shared/uncertainty"
)

// TestKnobsAtTheirLimits checks settings from 0 to the most, and no endless one.
func TestKnobsAtTheirLimits(t *testing.T) {
	for _, tt := range []struct {
		most, setting float64
		good          bool
	}{
		{1, 0, true}, {1, 1, true}, {1, 1.01, false}, {1, -.01, false}, {1, math.NaN(), false}, {math.Inf(1), 1e300, true}, {math.Inf(1), math.Inf(1), false}, {0, 0, true},
	} {
		if err := (&Knob{Most: tt.most}).Check(tt.setting); (err == nil) != tt.good || err != nil && !errors.Is(err, ErrKnob) {
			t.Errorf("%v of %v: %v", tt.setting, tt.most, err)
		}
	}
	for name, want := range map[string][2]float64{"quantile": {1, .9}, "futures": {1, .5}} {
		b, err := Baselines().Find(name)
		if err != nil || b.Knob.Most != want[0] || b.Knob.Default != want[1] {
			t.Errorf("%s: %+v, %v", name, b.Knob, err)
		}
	}
	for cost, want := range map[float64]float64{0: 1, 1: .5, 3: .25} {
		if got := futures.Knob.AtCost(cost); got != want {
			t.Errorf("a cost of %v: quantile %v, want %v", cost, got, want)
		}
	}
	for name, submits := range map[string]bool{"reactive": false, "never-late": true} {
		b, err := Baselines().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := b.Policy(0).Decide(&State{PredEnd: 1e6}); err != nil || d.Submit != submits || d.Expects {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// A successor is submitted once the wait is as long as the rest of the service.
func TestDecisionsByHand(t *testing.T) {
	for left, want := range map[int64]bool{3600: true, 3601: false, 3599: true} {
		s := &State{Now: 100, PredEnd: 100 + left}
		d, err := Fixed{LeadHours: 1}.Decide(s)
		if err != nil || d.Submit != want || math.Abs(d.Expected.Value-(1-float64(left)/3600)) > 1e-12 || !d.Expects {
			t.Errorf("%d s left: %+v, %v", left, d, err)
		}
		if d, err = (Fixed{LeadHours: .001}).Decide(&State{PredEnd: 3}); err != nil || !d.Submit {
			t.Errorf("a short lead: %+v", d)
		}
		s.Waits = []float64{3600}
		if d, err = (Average{}).Decide(s); err != nil || d.Submit != want {
			t.Errorf("%d s left, by the average: %+v", left, d)
		}
		if d, err = (Quantile{Q: .5}).Decide(s); err != nil || d.Submit != want {
			t.Errorf("%d s left, by the quantile: %+v", left, d)
		}
	}
	if d, err := (Quantile{Q: .5}).Decide(&State{PredEnd: 1}); err != nil || d.Submit || math.Abs(d.Expected.Value+1./3600) > 1e-12 {
		t.Errorf("without a wait: %+v, %v", d, err)
	}
	d := Expecting(&State{PredEnd: 3600}, uncertainty.Prediction{Value: -2, Low: -3, High: 5, Level: .8}, -1)
	if !d.Submit || d.Expected.Value != -1 || d.Expected.Low != -1 || d.Expected.High != 4 {
		t.Errorf("a wait of less than none: %+v", d)
	}
	if d := Expecting(&State{PredEnd: 3600}, uncertainty.Point(.5), -.4); d.Submit {
		t.Errorf("half an hour of one: %+v", d)
	}
	waits := slices.Repeat([]float64{0, 10}, 50)
	if p := amongWaits(&State{Waits: waits}, 2); p.Value != 2 || p.Low != 0 || p.High < 9 || p.High > 11 {
		t.Errorf("%+v", p)
	}
	if p := amongWaits(&State{Waits: waits[:2]}, 2); p.IsBounded() {
		t.Errorf("of two: %+v", p)
	}
}

// told answers with waits that grow with the time asked for, and keeps the questions.
type told struct {
	part, drawn, again float64
	asked              []int64
	back               []int64
}

func (q *told) Forecast(share float64, after int64) (float64, error) {
	if share != .4 && share != 1 {
		return 0, errors.New("another share")
	}
	q.asked = append(q.asked, after)
	return q.part + float64(after), nil
}

func (q *told) Draw(number int, back, after int64) (float64, error) {
	q.back = append(q.back, back)
	if back > 0 {
		return q.again + float64(after), nil
	}
	return q.drawn + float64(after), nil
}

// The wait is the mean of three, arrivals come from one to four weeks ago, and
// the next look comes after half of the rest that exceeds the wait.
func TestFuturesByHand(t *testing.T) {
	q := &told{part: 300, drawn: 600, again: 1500} // 800 s on average
	state := func(left, interval int64) *State {
		return &State{Now: 1000, PredEnd: 1000 + left, Interval: interval, Queue: func() (Queue, error) { return q, nil }}
	}
	starts, err := drawStarts(q, 7)
	if err != nil || starts(.5) != 807 || len(q.back) != 16 {
		t.Fatalf("%v, %v", starts(.5), err)
	}
	const week = 7 * 86400
	for i, want := range []int64{0, 0, 0, 0, 0, 0, 0, 0, week, 2 * week, 3 * week, 4 * week, week, 2 * week, 3 * week, 4 * week} {
		if q.back[i] != want {
			t.Errorf("draw %d goes back %d s, want %d", i, q.back[i], want)
		}
	}
	for _, tt := range []struct {
		left, interval int64
		submit         bool
		next           int64
	}{
		{800, 60, true, 0}, {799, 60, true, 0}, {801, 60, true, 0}, {860, 60, false, 60}, {859, 60, true, 0}, {1000, 60, false, 100}, {1000, 150, false, 150}, {1000, 201, true, 0}, {1200, 1, false, 200}, {20, 600, true, 0},
	} {
		d, err := Futures{Quantile: .5}.Decide(state(tt.left, tt.interval))
		want := int64(0)
		if !tt.submit {
			want = 1000 + tt.next
		}
		if err != nil || d.Submit != tt.submit || d.Next != want {
			t.Errorf("%d s left, a look each %d: %v, next at %d, %v; want %v, %d", tt.left, tt.interval, d.Submit, d.Next, err, tt.submit, want)
		}
	}
	s := state(3600, 60)
	q.asked = nil
	for range 2 {
		waits, err := s.Forecast()
		if err != nil || !slices.Equal(waits, []float64{300, 300}) || !slices.Equal(q.asked, []int64{0, 0}) {
			t.Errorf("%v after %v, %v", waits, q.asked, err)
		}
	}
	if _, err := (QueueForecast{}).Decide(&State{}); !errors.Is(err, ErrForecast) {
		t.Errorf("without a queue: %v", err)
	}
}
