package prediction

import (
	"errors"
	"os"
	"path/filepath"
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

// testCatalog has two built-in settings, and a default file that does not exist.
func testCatalog(t *testing.T) *Catalog {
	built := &profiler.Model{Settings: []*profiler.Calibration{
		rates(profiler.Facts{Setting: "desk", Runtime: "ort", Device: "PC"}, 1e-10),
		rates(profiler.Facts{Setting: "desk go", Runtime: "go", Device: "PC"}, 1e-9),
		rates(profiler.Facts{Setting: "pi go", Runtime: "go", Device: "Raspberry Pi 4B"}, 1e-8),
	}}
	return &Catalog{Default: filepath.Join(t.TempDir(), "own.json"), Builtin: func() (*profiler.Model, error) { return built, nil }}
}

func TestCatalog(t *testing.T) {
	c := testCatalog(t)
	pi := device.Device{Model: "Raspberry Pi 4B"}
	want := func(what, name, runtime, setting string) *profiler.Calibration {
		t.Helper()
		r, err := c.Rates(name, runtime, pi)
		if err != nil || r.Facts.Setting != setting {
			t.Fatalf("%s: %+v, %v, want %s", what, r, err, setting)
		}
		return r
	}
	want("no default file", "", "", "desk")
	want("another runtime", "", "go", "pi go")
	if err := file.WriteJSON(c.Default, rates(profiler.Facts{Setting: "mine", Runtime: "go"}, 1e-9)); err != nil {
		t.Fatal(err)
	}
	first := want("the default file, written after the first reading", "", "", "mine")
	if again := want("again", "", "go", "mine"); again != first {
		t.Error("an unchanged file was read again")
	}
	if err := os.Chtimes(c.Default, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if again := want("a changed file", c.Default, "", "mine"); again == first {
		t.Error("a changed file was not read again")
	}
	if _, err := c.Rates(c.Default, "ort", pi); !errors.Is(err, profiler.ErrCalibration) {
		t.Errorf("a named file of another runtime: %v", err)
	}
	want("the default file of another runtime", "", "ort", "desk")
	if _, err := c.Rates(filepath.Join(t.TempDir(), "none.json"), "", pi); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a named file that is missing: %v", err)
	}
}

// The service's predictor, read from a file, and a command's, made of the catalog's
// settings, have the same answer.
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
	for _, runtime := range []string{"", "go", "ort"} {
		service, err := Read(t.Context(), c, "", data, runtime)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := c.Settings("", runtime)
		if err != nil {
			t.Fatal(err)
		}
		var got []*placement.Ranking
		for _, p := range []Predictor{service, NewCalibrated(settings, c, runtime)} {
			r, err := p.On(t.Context(), devices, nil).Rank(a)
			if err != nil || len(r.Candidates) != 2 || len(r.Excluded) != 1 || r.Excluded[0].Node != "c" {
				t.Fatalf("%+v, %v", r, err)
			}
			got = append(got, r)
		}
		for i, s := range got[0].Candidates {
			if o := got[1].Candidates[i]; s.Node != o.Node || s.Seconds != o.Seconds {
				t.Errorf("runtime %q: the service says %s %v, the command %s %v", runtime, s.Node, s.Seconds, o.Node, o.Seconds)
			}
		}
	}
}
