package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/stats"
)

// quantiser is what onnxruntime's own quantisation for Python needs beside
// wheels[0]'s neighbours: `tools/install.sh edgeprof/quantise.txt`.
var quantiser = []string{"onnxruntime==1.32.0", "onnx==1.23.2", "numpy==2.2.6", "ml-dtypes==0.6.0", "protobuf==7.36.2", "flatbuffers==25.12.19", "packaging==26.4", "typing-extensions==4.12.2"}

// quantised are the models of the wheels in 8 bits, as onnxruntime quantises them:
// of each format those of a wheel. The wheels themselves have none in 8 bits.
// Recurrent models and VGG stay out: nothing in the first would be in 8 bits, and the
// second is beyond the quantiser's memory.
func quantised(t *testing.T, folder string) map[string]map[string][]model {
	t.Helper()
	var paths []string
	for _, wheel := range quantiser {
		paths = append(paths, installed(t, wheel))
	}
	all := map[string]map[string][]model{}
	for _, w := range wheels {
		if strings.HasPrefix(w.wheel, "silero") || strings.Contains(w.file, "vgg") {
			continue
		}
		sizes, err := json.Marshal(w.sizes)
		if err != nil {
			t.Fatal(err)
		}
		from := filepath.Join(installed(t, w.wheel), w.file)
		name := filepath.Join(folder, strings.TrimSuffix(filepath.Base(w.file), ".onnx"))
		c := exec.CommandContext(t.Context(), "python3", "testdata/quantise.py", from, name, string(sizes))
		c.Env = append(os.Environ(), "PYTHONPATH="+strings.Join(paths, ":"))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", from, err, out)
		}
		for _, format := range formats {
			m := model{path: name + "." + format + ".onnx"}
			for _, open := range slices.Sorted(maps.Keys(w.sizes)) {
				m.sizes = append(m.sizes, "--dim", fmt.Sprintf("%s=%d", open, w.sizes[open]))
			}
			if all[format] == nil {
				all[format] = map[string][]model{}
			}
			all[format][w.wheel] = append(all[format][w.wheel], m)
		}
	}
	return all
}

var formats = []string{"QDQ", "QOperator"}

// Predicted against measured times of models in 8 bits: by one profile, and by rates alone after
// calibrate.
func TestQuantisedTimes(t *testing.T) {
	if !*predict {
		t.Skip("run with -predictions")
	}
	r := built(t)
	all := quantised(t, r.folder)
	measured := map[string][]float64{}
	measure := func() {
		for _, format := range formats {
			for _, models := range all[format] {
				for _, m := range models {
					measured[m.path] = append(measured[m.path], r.uncontended(m))
				}
			}
		}
	}
	measure()
	plain := filepath.Join(r.folder, "plain.json")
	r.run("calibrate", "--out", plain)
	measure()
	measure()
	idle := r.idle(plain)
	for _, way := range []struct{ name, rates string }{{"by one profile", ""}, {"after calibrate", plain}} {
		for _, format := range formats {
			var fs []predicted
			for _, wheel := range slices.Sorted(maps.Keys(all[format])) {
				for _, m := range all[format][wheel] {
					f := r.predict(m, idle, way.rates)
					f.measured = stats.Median(measured[m.path])
					t.Logf("%-50s %9.3f ms, %s: %9.3f (%.3f to %.3f)", filepath.Base(m.path), 1000*f.measured, way.name, 1000*f.value, 1000*f.low, 1000*f.high)
					fs = append(fs, f)
				}
			}
			t.Log(row(way.name+", "+format, fs))
		}
	}
}
