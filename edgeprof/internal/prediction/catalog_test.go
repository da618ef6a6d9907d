package prediction

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/file"
)

// rates returns a calibration in which each multiply-accumulate takes some seconds.
func rates(facts profiler.Facts, mac float64) *profiler.Calibration {
	c := &profiler.Calibration{Facts: facts, Models: 20, Low: 0.5, High: 2, Shortest: 1e-6, Longest: 10, Rates: map[onnx.Class]profiler.Rates{}}
	for _, class := range onnx.Classes() {
		c.Rates[class] = profiler.Rates{Start: 1e-6, MAC: mac, Byte: 1e-10, Nodes: 10}
	}
	return c
}

// testCatalog has built-in rates, and a default file that does not exist.
func testCatalog(t *testing.T) *Catalog {
	built, err := json.Marshal(rates(profiler.Facts{Setting: "built in", Device: "PC"}, 1e-10))
	if err != nil {
		t.Fatal(err)
	}
	return &Catalog{Default: filepath.Join(t.TempDir(), "own.json"), Builtin: built}
}

// Rates of another provider are refused, built-in ones and those of files.
func TestProvider(t *testing.T) {
	c := testCatalog(t)
	c.Provider = "cuda"
	if _, err := c.Rates(""); !errors.Is(err, profiler.ErrCalibration) || !strings.Contains(err.Error(), "built-in rates: rates of the provider cpu, want cuda: edgeprof calibrate --provider cuda") {
		t.Errorf("built-in rates: %v", err)
	}
	if err := file.WriteJSON(c.Default, rates(profiler.Facts{Provider: "cuda"}, 1e-12)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Rates(""); err != nil {
		t.Errorf("rates of the provider: %v", err)
	}
	other := Catalog{}
	if _, err := other.Rates(c.Default); !errors.Is(err, profiler.ErrCalibration) {
		t.Errorf("for the CPU: %v", err)
	}
}

func TestCatalog(t *testing.T) {
	c := testCatalog(t)
	want := func(what, name, setting string, shipped bool) *profiler.Calibration {
		t.Helper()
		r, err := c.Rates(name)
		if err != nil || r.Facts.Setting != setting || r.Facts.Shipped != shipped {
			t.Fatalf("%s: %+v, %v, want %s", what, r, err, setting)
		}
		return r
	}
	want("no default file", "", "built in", true)
	if err := file.WriteJSON(c.Default, rates(profiler.Facts{Setting: "mine"}, 1e-9)); err != nil {
		t.Fatal(err)
	}
	first := want("the default file, written after the first reading", "", "mine", false)
	if again := want("again", "", "mine", false); again != first {
		t.Error("an unchanged file was read again")
	}
	if err := os.Chtimes(c.Default, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if again := want("a changed file", c.Default, "mine", false); again == first {
		t.Error("a changed file was not read again")
	}
	if _, err := c.Rates(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a named file that is missing: %v", err)
	}
}

// The service's predictor, read from a file, and a command's, made of the
// catalog's rates, have the same answer.
func TestOneAnswer(t *testing.T) {
	c := testCatalog(t)
	_, data, err := c.Content("")
	if err != nil {
		t.Fatal(err)
	}
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	devices := []device.Device{{Node: "a", Model: "Raspberry Pi 4B", Cores: 4}, {Node: "b", Cores: 1, Load: device.Load{CPUPercent: 100}}, {Node: "c", Cores: 1, Calibration: "none.json"}}
	service, err := Read(t.Context(), c, "", data)
	if err != nil {
		t.Fatal(err)
	}
	built, err := c.Rates("")
	if err != nil {
		t.Fatal(err)
	}
	var got []*placement.Ranking
	for _, p := range []Predictor{service, NewCalibrated(built, c)} {
		r, err := p.On(t.Context(), devices, nil).Rank(a)
		if err != nil || len(r.Candidates) != 2 || len(r.Excluded) != 1 || r.Excluded[0].Node != "c" {
			t.Fatalf("%+v, %v", r, err)
		}
		got = append(got, r)
	}
	for i, s := range got[0].Candidates {
		if o := got[1].Candidates[i]; s.Node != o.Node || s.Seconds != o.Seconds {
			t.Errorf("the service says %s %v, the command %s %v", s.Node, s.Seconds, o.Node, o.Seconds)
		}
	}
}

// Counts, like a model's file, exclude a device whose free memory cannot hold the weights and
// what goes in and out.
func TestCountsNeedMemory(t *testing.T) {
	devices := []device.Device{
		{Node: "full", Cores: 4, Load: device.Load{MemoryAvailableBytes: 9e6}},
		{Node: "roomy", Cores: 4, Load: device.Load{MemoryAvailableBytes: 11e6}},
		{Node: "untold", Cores: 4},
	}
	counts := placement.Counts{ConvLayers: 3, FilterDetails: 96, TotalParameters: 2e6, ModelInputSize: 1e6, ModelOutputSize: 1e6}
	fleet := NewCalibrated(rates(profiler.Facts{Device: "PC"}, 1e-10), nil).On(t.Context(), devices, nil)
	r, err := fleet.Profile(counts)
	if err != nil || len(r.Candidates) != 2 || len(r.Excluded) != 1 || r.Excluded[0] != (device.Exclusion{Node: "full", Reason: "the model needs 10000000 bytes of memory, 9000000 are free"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if first, err := fleet.Fastest(counts); err != nil || first.Node == "full" {
		t.Errorf("%+v, %v", first, err)
	}
	if _, err := NewCalibrated(rates(profiler.Facts{}, 1e-10), nil).On(t.Context(), devices[:1], nil).Fastest(counts); !errors.Is(err, placement.ErrNoDevice) {
		t.Errorf("a device that is full alone: %v", err)
	}
}
