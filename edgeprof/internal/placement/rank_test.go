package placement

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/uncertainty"
)

func TestRank(t *testing.T) {
	m, err := synth.New("alexnet", synth.Size{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	cal := &profiler.Calibration{Facts: profiler.Facts{UUID: "calibrated", MaxMHz: 2000, Threads: 1}, Low: 0.5, High: 2, Shortest: 1e-6, Longest: 10, Rates: map[onnx.Class]profiler.Rates{}}
	for _, class := range []onnx.Class{onnx.ClassConv, onnx.ClassDense, onnx.ClassPool, onnx.ClassFunction, onnx.ClassOther} {
		cal.Rates[class] = profiler.Rates{MAC: 1e-9, Byte: 1e-10, Nodes: 1}
	}
	rates := []*profiler.Calibration{cal, cal, cal, cal}
	devices := []device.Device{
		{Node: "busy", Cores: 2, MaxMHz: 2000, Load: device.Load{CPUPercent: 100}},
		{Node: "idle", Cores: 2, MaxMHz: 2000},
		{Node: "fast", Cores: 2, MaxMHz: 4000, Load: device.Load{CPUPercent: 10}},
		{Node: "small", Cores: 2, MaxMHz: 9000, Load: device.Load{MemoryAvailableBytes: 1 << 20}},
	}
	r, err := rank(a, devices, []device.Exclusion{{Node: "gone", Reason: "stale"}}, rates)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, c := range r.Candidates {
		order = append(order, c.Node)
		if !(c.Seconds.Low < c.Seconds.Value && c.Seconds.Value < c.Seconds.High && c.Seconds.Level == profiler.Level) || len(c.Reasons) == 0 {
			t.Errorf("%+v", c)
		}
	}
	if got := strings.Join(order, " "); got != "fast idle busy" {
		t.Errorf("order %q", got)
	}
	for range 50 { // the same bytes each time
		again, err := rank(a, devices, []device.Exclusion{{Node: "gone", Reason: "stale"}}, rates)
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("ranked again: %+v %v, not %+v", again, err, r)
		}
	}
	if c := r.Candidates; c[0].Saturated || !c[2].Saturated || c[0].CPUPercent != 10 {
		t.Errorf("load of %+v", c)
	}
	if len(r.Excluded) != 2 || r.Excluded[0].Node != "gone" || !strings.Contains(r.Excluded[1].Reason, "bytes of memory") {
		t.Errorf("excluded %+v", r.Excluded)
	}
	if _, err := rank(a, devices[3:], nil, rates); !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "small: ") {
		t.Errorf("no device left: %v", err)
	}
	if _, err := rank(a, nil, nil, rates); !errors.Is(err, ErrNoDevice) {
		t.Errorf("no devices: %v", err)
	}
}

// Overlapping intervals tie with the first of them; times without an interval do not.
func TestTies(t *testing.T) {
	times := func(all ...uncertainty.Prediction) *Ranking {
		r := &Ranking{}
		for _, p := range all {
			r.Candidates = append(r.Candidates, Candidate{Seconds: p})
		}
		return r
	}
	p := func(value, low, high float64) uncertainty.Prediction {
		return uncertainty.Prediction{Value: value, Low: low, High: high, Level: 0.9}
	}
	waiting := times(p(1, 1, 2), p(3, 1, 4))
	waiting.Candidates[1].Wait = 2
	for name, c := range map[string]struct {
		r    *Ranking
		want []int
	}{
		"none": {times(), []int{}}, "one": {times(p(1, 1, 2)), []int{1}},
		"overlap":        {times(p(28.9, 20, 40), p(29.3, 21, 42), p(90, 80, 95), p(94, 93, 99), p(200, 150, 250)), []int{1, 1, 3, 3, 5}},
		"not by a third": {times(p(1, 1, 2), p(2, 2, 3), p(3, 2.5, 4)), []int{1, 1, 3}},
		"open":           {times(p(1, 1, 2), uncertainty.Point(1.5), p(2, 2, math.Inf(1))), []int{1, 2, 3}},
		"waits":          {waiting, []int{1, 2}},
	} {
		if got := c.r.Ties(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// rank is a model's ranking, whose first is the fastest.
func rank(a *onnx.Analysis, devices []device.Device, excluded []device.Exclusion, rates []*profiler.Calibration) (*Ranking, error) {
	estimate, err := GraphEstimator(a, devices, rates)
	if err != nil {
		return nil, err
	}
	r, err := Rank(devices, excluded, estimate)
	first, firstErr := FindFastest(devices, excluded, estimate)
	if (err == nil) != (firstErr == nil) || err == nil && !reflect.DeepEqual(first, r.Candidates[0]) {
		return r, fmt.Errorf("fastest is %+v (%v), ranked first %+v (%v)", first, firstErr, r.Candidates, err)
	}
	return r, err
}

// A time that is only known to be above something comes last, however short.
func TestLowerBoundIsLast(t *testing.T) {
	times := []uncertainty.Prediction{{Value: 1, Low: 0.5, High: math.Inf(1)}, {Value: 3, Low: 2, High: 4}, uncertainty.Point(2)}
	r, err := Rank([]device.Device{{Node: "open"}, {Node: "known"}, {Node: "point"}}, nil, func(i int) (Estimate, error) { return Estimate{Seconds: times[i]}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Candidates[0].Node + " " + r.Candidates[1].Node + " " + r.Candidates[2].Node; got != "point known open" {
		t.Errorf("order %s", got)
	}
	text, err := json.Marshal(r.Candidates[2])
	if err != nil || !strings.Contains(string(text), `"low":0.5,"high":null`) {
		t.Errorf("%s, %v", text, err)
	}
	var back Candidate
	if err := json.Unmarshal(text, &back); err != nil || back.Seconds.Low != 0.5 || !math.IsInf(back.Seconds.High, 1) {
		t.Errorf("%+v, %v", back.Seconds, err)
	}
}
