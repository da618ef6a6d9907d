package placement

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/uncertainty"
)

func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

// TestLawByHand checks the product of powers of a law, and its factors at the bounds of its counts.
func TestLawByHand(t *testing.T) {
	l := &PowerLaw{
		Convolutional: PowerFit{Filters: .5, Parameters: 1, Input: 2, Factor: 3, Low: .5, High: 4, Error: 7},
		Other:         PowerFit{Filters: 9, Parameters: 2, Input: 1, Factor: 5, Low: .25, High: 8, Error: 11},
		MaxCounts:     Counts{ConvLayers: 10, PoolLayers: 1, FCLayers: 1, FilterDetails: 80, TotalParameters: 90, ModelInputSize: 70, ModelOutputSize: 1},
		MinCounts:     Counts{FilterDetails: 201, TotalParameters: 200, ModelInputSize: 3},
	}
	c := Counts{ConvLayers: 1, FilterDetails: 3, TotalParameters: 4, ModelInputSize: 9}
	if p := l.Predict(c); !isNear(p.Value, 3*2*5*100) || !isNear(p.Low, p.Value/2) || !isNear(p.High, p.Value*4) || p.Level != profiler.Level {
		t.Errorf("%+v, want 3000 from 1500 to 12000", p)
	}
	c.ConvLayers, c.FilterDetails = 0, 0
	if p := l.Predict(c); !isNear(p.Value, 5*25*10) || !isNear(p.Low, p.Value/4) || !isNear(p.High, p.Value*8) {
		t.Errorf("without convolutions %+v, want 1250", p)
	}
	if l.PredictionError(c) != 11 || l.PredictionError(Counts{ConvLayers: 1}) != 7 {
		t.Error("errors of the other law")
	}
	base := Counts{ConvLayers: 1, FilterDetails: 80, TotalParameters: 90, ModelInputSize: 70}
	for _, tt := range []struct {
		change               func(*Counts)
		unusable, unfamiliar string
	}{
		{func(*Counts) {}, "", ""},
		{func(c *Counts) { c.ConvLayers = 109 }, "", ""},
		{func(c *Counts) { c.ConvLayers = 110 }, "", "conv_layers"},
		{func(c *Counts) { c.ConvLayers = 1099 }, "", "conv_layers"},
		{func(c *Counts) { c.ConvLayers = 1100 }, "conv_layers", "conv_layers"},
		{func(c *Counts) { c.ModelOutputSize = 1e6 }, "", "model_output_size"},
		{func(c *Counts) { c.FilterDetails = 21 }, "", ""},
		{func(c *Counts) { c.FilterDetails = 20 }, "", "filter_details (too small)"},
		{func(c *Counts) { c.FilterDetails = 3 }, "", "filter_details (too small)"},
		{func(c *Counts) { c.FilterDetails = 2 }, "filter_details (too small)", "filter_details (too small)"},
		{func(c *Counts) { c.ConvLayers, c.FilterDetails = 0, 0 }, "", ""},
		{func(c *Counts) { c.TotalParameters = 20 }, "", ""},
		{func(c *Counts) { c.TotalParameters = 19 }, "", "total_parameters (too small)"},
		{func(c *Counts) { c.TotalParameters = 2 }, "", "total_parameters (too small)"},
		{func(c *Counts) { c.TotalParameters = 1 }, "total_parameters (too small)", "total_parameters (too small)"},
		{func(c *Counts) { c.ModelInputSize = 1 }, "", ""},
		{func(c *Counts) { c.ModelInputSize = 0 }, "model_input_size (too small)", "model_input_size (too small)"},
	} {
		c := base
		tt.change(&c)
		if got := strings.Join(l.UnusableCounts(c), " "); got != tt.unusable {
			t.Errorf("%+v: unusable %q, want %q", c, got, tt.unusable)
		}
		if got := strings.Join(l.UnfamiliarCounts(c), " "); got != tt.unfamiliar {
			t.Errorf("%+v: unfamiliar %q, want %q", c, got, tt.unfamiliar)
		}
		if p := l.Predict(c); p.IsBounded() != (tt.unusable == "") {
			t.Errorf("%+v: %+v", c, p)
		}
	}
	// What is too large or too small counts as the nearest usable count.
	for _, pair := range [][2]Counts{
		{{ConvLayers: 1, FilterDetails: 1e9, TotalParameters: 90, ModelInputSize: 70}, {ConvLayers: 1, FilterDetails: 8000, TotalParameters: 90, ModelInputSize: 70}},
		{{ConvLayers: 1, FilterDetails: 80, TotalParameters: 0, ModelInputSize: 0}, {ConvLayers: 1, FilterDetails: 80, TotalParameters: 2, ModelInputSize: 1}},
	} {
		if far, near := l.Predict(pair[0]).Value, l.Predict(pair[1]).Value; far != near {
			t.Errorf("%+v: %v, want %v", pair[0], far, near)
		}
	}
}

// Powers are found where times follow them, and the interval is widened by that
// of the calibration.
func TestFitOfALaw(t *testing.T) {
	var samples []sample
	for i := range 48 {
		c := Counts{ConvLayers: uint64(i % 2), FilterDetails: uint64(1 + i*i%7*10), TotalParameters: uint64(1 + i*i*i%11*100), ModelInputSize: uint64(1 + i%5*1000)}
		log := .5*math.Log1p(float64(c.FilterDetails)) + .25*math.Log1p(float64(c.TotalParameters)) + .125*math.Log1p(float64(c.ModelInputSize)) - 2
		samples = append(samples, sample{fmt.Sprint(i % 6), c, log, false})
	}
	c := &profiler.Calibration{Low: .5, High: 3}
	law, err := lawOf(t.Context(), samples, c)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]PowerFit{"convolutional": law.Convolutional, "other": law.Other} {
		if math.Abs(p.Filters-.5) > 1e-6 || math.Abs(p.Parameters-.25) > 1e-6 || math.Abs(p.Input-.125) > 1e-6 || math.Abs(p.Factor/math.Exp(-2)-1) > 1e-5 || math.Abs(p.Error-1) > 1e-5 || math.Abs(p.Low-.5) > 1e-4 || math.Abs(p.High-3) > 1e-3 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if law.MaxCounts.FilterDetails != 41 || law.MinCounts.TotalParameters != 1 || law.MinCounts.ModelInputSize != 1 {
		t.Errorf("%+v", law)
	}
	least := uint64(math.MaxUint64)
	for _, s := range samples {
		if s.counts.ConvLayers > 0 {
			least = min(least, s.counts.FilterDetails)
		}
	}
	if law.MinCounts.FilterDetails != least {
		t.Errorf("least filters %d, want %d", law.MinCounts.FilterDetails, least)
	}
	// Models without convolutions alone judge their law: those with them are all late here.
	for i := range samples {
		if samples[i].counts.ConvLayers > 0 {
			samples[i].log += 20
		}
	}
	if law, err = lawOf(t.Context(), samples, c); err != nil || law.Convolutional.Error > 1.001 || law.Other.Error < 2 {
		t.Errorf("%+v, %v", law, err)
	}
}

// TestMemoryOfCounts checks four bytes a weight, input and output, up to a pebibyte.
func TestMemoryOfCounts(t *testing.T) {
	for c, want := range map[Counts]int64{
		{}: 0, {TotalParameters: 3}: 12, {TotalParameters: 3, ModelInputSize: 5, ModelOutputSize: 7}: 24,
		{TotalParameters: 1 << 48}: 1 << 50, {TotalParameters: 1 << 48, ModelInputSize: 1}: 0, {ModelOutputSize: 1 << 51}: 0,
	} {
		if got := c.MemoryBytes(); got != want {
			t.Errorf("%+v: %d bytes, want %d", c, got, want)
		}
	}
	r := row(Counts{FilterDetails: 1, TotalParameters: 3, ModelInputSize: 7})
	for i, want := range []float64{math.Ln2, 2 * math.Ln2, 3 * math.Ln2, 1, -1} {
		if !isNear(r[i], want) {
			t.Errorf("feature %d is %v, want %v", i, r[i], want)
		}
	}
	if d := calibratedDevice(&profiler.Calibration{Facts: profiler.Facts{UUID: "u"}}); d.Cores != 1 || d.UUID != "u" {
		t.Errorf("%+v", d)
	}
	if d := calibratedDevice(&profiler.Calibration{Facts: profiler.Facts{Cores: 4}}); d.Cores != 4 {
		t.Errorf("%+v", d)
	}
}

// TestReasonsOfGraphs checks the share of the first class, the load of a GPU, and the slowdown.
func TestReasonsOfGraphs(t *testing.T) {
	load := 12.0
	d := &device.Device{Cores: 4}
	d.Load.CPUPercent = 30
	p := &profiler.Prediction{Slowdown: 1}
	if got := reasons(p, d); !slices.Equal(got, []string{"a core is free at a CPU load of 30 %"}) {
		t.Errorf("%q", got)
	}
	p.Shares = []profiler.Share{{Class: onnx.ClassConv, Part: .75}, {Class: onnx.ClassOther, Part: .25}}
	p.Slowdown = 1.25
	d.Load.GPUPercent = &load
	got := reasons(p, d)
	if len(got) != 3 || got[0] != "75 % of the time in Conv operators" && !strings.HasPrefix(got[0], "75 % of the time in ") || got[1] != "GPU load 12 %, not allowed for" || !strings.HasPrefix(got[2], "slowed 1.25 times: ") {
		t.Errorf("%q", got)
	}
}

// An idle machine is as fast as by the calibration; rates of zero are none.
func TestSlowdownOfALoad(t *testing.T) {
	c := calibration()
	if factor, _, err := Slowdown(c, calibratedDevice(c), 1); err != nil || !isNear(factor, 1) {
		t.Errorf("idle: %v, %v", factor, err)
	}
	for class := range c.Rates {
		c.Rates[class] = profiler.Rates{Nodes: 10}
	}
	if factor, _, err := Slowdown(c, calibratedDevice(c), 1); factor != 0 || !errors.Is(err, profiler.ErrCalibration) {
		t.Errorf("rates of zero: %v, %v", factor, err)
	}
}

// A model has the last byte of a node, and waits for those before it.
func TestMemoryThatIsLeft(t *testing.T) {
	at := func(node string, seconds float64, need, free int64) Candidate {
		return Candidate{Node: node, Seconds: uncertainty.Point(seconds), need: need, free: free}
	}
	for _, tt := range []struct {
		free int64
		want string
	}{
		{10, "a"}, {9, "b"}, {0, "a"}, {1, "b"},
	} {
		first := &Ranking{Candidates: []Candidate{at("a", 9, 6, tt.free)}}
		second := &Ranking{Candidates: []Candidate{at("a", 1, 4, tt.free), at("b", 20, 4, tt.free)}}
		if err := SpreadModels([]*Ranking{second, first}); err != nil {
			t.Fatal(err)
		}
		c := second.Candidates[0]
		if c.Node != tt.want || c.Node == "a" && c.FinishTime() != 10 || len(second.Excluded) != map[string]int{"a": 0, "b": 1}[tt.want] {
			t.Errorf("%d bytes free: on %s after %v s, excluded %+v; want %s", tt.free, c.Node, c.FinishTime(), second.Excluded, tt.want)
		}
	}
	only := func() *Ranking { return &Ranking{Candidates: []Candidate{at("a", 1, 6, 9)}} }
	if err := SpreadModels([]*Ranking{only(), only()}); !errors.Is(err, ErrNoDevice) {
		t.Errorf("no memory for the second: %v", err)
	}
	all := []*Ranking{{Candidates: []Candidate{at("a", 2, 1, 0)}}, {Candidates: []Candidate{at("a", 3, 1, 0)}}, {Candidates: []Candidate{at("a", 1, 1, 0)}}}
	if err := SpreadModels(all); err != nil || all[1].Candidates[0].Wait != 0 || all[0].Candidates[0].Wait != 3 || all[2].Candidates[0].Wait != 5 || !slices.Contains(all[2].Candidates[0].Reasons, "models placed on this device before it: 2") {
		t.Errorf("%+v %+v %+v, %v", all[0].Candidates, all[1].Candidates, all[2].Candidates, err)
	}
}

// Intervals that touch tie, with the waits before them; open ones come last.
func TestTiesByHand(t *testing.T) {
	of := func(low, value, high, wait float64) Candidate {
		return Candidate{Seconds: uncertainty.Prediction{Low: low, Value: value, High: high, Level: .9}, Wait: wait}
	}
	for _, tt := range []struct {
		second Candidate
		want   int
	}{
		{of(4, 5, 6, 0), 1}, {of(4.01, 5, 6, 0), 2}, {of(3, 5, 6, 1), 1}, {of(3, 5, 6, 1.01), 2}, {of(3, 5, math.Inf(1), 0), 2}, {of(math.Inf(-1), 5, math.Inf(1), 0), 2},
	} {
		r := &Ranking{Candidates: []Candidate{of(1, 2, 3, 1), tt.second}}
		if got := r.Ties(); got[0] != 1 || got[1] != tt.want {
			t.Errorf("%+v: places %v, want 1 and %d", tt.second, got, tt.want)
		}
	}
	open, point, none := of(1, 1, math.Inf(1), 0), Candidate{Seconds: uncertainty.Point(5)}, of(0, 6, math.Inf(1), 0)
	list := []Candidate{open, none, point}
	slices.SortFunc(list, order)
	if list[0].Seconds.Value != 5 || list[1].Seconds.Value != 6 || list[2].Seconds.Value != 1 {
		t.Errorf("%+v", list)
	}
	for _, p := range []uncertainty.Prediction{{Low: 1, Value: 2, High: 3, Level: .9}, uncertainty.Point(4), {Low: 1, Value: 2, High: math.Inf(1)}} {
		text, err := json.Marshal(Candidate{Node: "n", Seconds: p})
		if err != nil {
			t.Fatal(err)
		}
		var back Candidate
		if err := json.Unmarshal(text, &back); err != nil || back.Seconds != p || back.Node != "n" {
			t.Errorf("%s: %+v, want %+v, %v", text, back.Seconds, p, err)
		}
		if strings.Contains(string(text), `"high":null`) != math.IsInf(p.High, 1) || strings.Contains(string(text), `"low":null`) != math.IsInf(p.Low, -1) {
			t.Errorf("%s", text)
		}
	}
}

// A device without memory or estimate is excluded and does not hide others;
// each warning comes once.
func TestRankedOnce(t *testing.T) {
	devices := []device.Device{{Node: "a"}, {Node: "b"}, {Node: "c"}, {Node: "d"}}
	devices[1].Load.MemoryAvailableBytes = 9
	devices[2].Load.MemoryAvailableBytes = 10
	twice := errors.New("w")
	r, err := Rank(devices, []device.Exclusion{{Node: "x"}}, func(i int) (Estimate, error) {
		if i == 0 {
			return Estimate{}, errors.New("no calibration")
		}
		return Estimate{Seconds: uncertainty.Point(float64(9 - i)), Bytes: 10, Threads: i, Warnings: []error{twice, twice}}, nil
	})
	if err != nil || len(r.Candidates) != 2 || r.Candidates[0].Node != "d" || r.Candidates[1].Node != "c" || r.Candidates[1].need != 10 || r.Candidates[1].free != 10 || len(r.Excluded) != 3 || !slices.Equal(r.Warnings, []string{"w"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Rank(nil, nil, nil); !errors.Is(err, ErrNoDevice) {
		t.Errorf("no device: %v", err)
	}
}
