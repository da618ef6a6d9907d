package prediction

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// script trains models as the original's does, on random rows: over all its columns without
// names, and over some of them in another order. It prints the rows and what they predict.
const script = `
import json, numpy as np, xgboost as xgb
names = ["conv_layers", "device_load_percent", "disk_io_read_bytes", "disk_io_write_bytes", "device_disk_usage_percent", "filter_details", "fully_conn_layers", "device", "pool_layers", "total_parameters"]
r = np.random.RandomState(1)
x = np.column_stack([r.randint(0, 200, 400), r.uniform(0, 100, 400), r.randint(1000, 10**6, 400), r.randint(1000, 10**8, 400), r.uniform(0, 100, 400),
    r.randint(0, 10**5, 400), r.randint(0, 10, 400), r.randint(-1, 2, 400), r.randint(0, 20, 400), r.randint(10**4, 10**8, 400)]).astype(float)
y = 1 + x[:, 0] / 10 + x[:, 1] / 50 * (2 - x[:, 7]) + x[:, 9] / 1e7
settings = {"objective": "reg:squarederror", "max_depth": 6, "eta": 0.1, "seed": 42}
out = {"rows": x[:50].tolist()}
for file, columns, labels in ("all.json", range(10), None), ("some.json", [7, 0, 9, 1], [names[i] for i in (7, 0, 9, 1)]):
    columns = list(columns)
    b = xgb.train(settings, xgb.DMatrix(x[:, columns], label=y, feature_names=labels), 145)
    b.save_model(file)
    out[file] = b.predict(xgb.DMatrix(x[:50][:, columns], feature_names=labels)).astype(float).tolist()
print(json.dumps(out))`

// Rows, and devices with their loads, get the time that XGBoost itself predicts.
func TestRealXGBoost(t *testing.T) {
	const (
		python    = "/usr/bin/python3"
		tolerance = 1e-5 // XGBoost sums the trees in float32
	)
	if exec.Command(python, "-c", "import xgboost").Run() != nil {
		t.Skip("needs XGBoost for Python: install with apt-get install python3-xgboost")
	}
	c := exec.Command(python, "-W", "ignore", "-c", script)
	c.Dir = t.TempDir()
	var stderr bytes.Buffer
	c.Stderr = &stderr
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	var told struct {
		Rows [][10]float64
		All  []float64 `json:"all.json"`
		Some []float64 `json:"some.json"`
	}
	if err := json.Unmarshal(text, &told); err != nil {
		t.Fatal(err)
	}
	kinds := map[float64]string{-1: "desktop", 0: "raspberrypi", 1: "jetson"}
	boards := map[float64]string{-1: "PC", 0: "Raspberry Pi 4B", 1: "Jetson Nano"}
	for name, want := range map[string][]float64{"all.json": told.All, "some.json": told.Some} {
		data, err := os.ReadFile(filepath.Join(c.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := profiler.ReadModel(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Read(t.Context(), testCatalog(t), name, data)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range told.Rows {
			v := func(k int) *float64 { return measurement.NumberCell(x[k]) }
			row := measurement.Row{OriginalColumns: measurement.OriginalColumns{
				ConvLayers: v(0), LoadPercent: v(1), ReadBytes: v(2), WrittenBytes: v(3), DiskPercent: v(4), FilterDetails: v(5), FCLayers: v(6), Device: kinds[x[7]], PoolLayers: v(8), TotalParameters: v(9),
			}}
			answer, _, err := m.PredictRow(&row)
			if err != nil || math.Abs(answer.Value/want[i]-1) > tolerance || answer.IsBounded() {
				t.Fatalf("%s: row %d: %v, %v, XGBoost says %v", name, i, answer, err, want[i])
			}
			d := device.Device{Node: "a", Model: boards[x[7]], Cores: 4, Load: device.Load{CPUPercent: x[1], DiskPercent: v(4)}}
			got, err := p.On(t.Context(), []device.Device{d}, nil).Fastest(placement.Counts{
				ConvLayers: uint64(x[0]), PoolLayers: uint64(x[8]), FCLayers: uint64(x[6]), FilterDetails: uint64(x[5]), TotalParameters: uint64(x[9]), ModelInputSize: uint64(x[2]), ModelOutputSize: uint64(x[3]),
			})
			if err != nil || math.Abs(got.Seconds.Value/want[i]-1) > tolerance {
				t.Fatalf("%s: request %d: %v, %v, XGBoost says %v", name, i, got.Seconds, err, want[i])
			}
		}
	}
}

// A model over other columns is refused by their names.
func TestForeignXGBoost(t *testing.T) {
	const tail = `"learner_model_param":{"base_score":"5E-1","num_feature":"1","num_target":"1"},"objective":{"name":"reg:squarederror"},"gradient_booster":{"name":"gbtree","model":{"gbtree_model_param":{"num_trees":"0"},"tree_info":[],"trees":[]}}},"version":[1,7,4]}`
	for text, want := range map[string]error{
		`{"learner":{"feature_names":["colour"],"feature_types":["float"],` + tail:      profiler.ErrModel,
		`{"learner":{"feature_names":[],"feature_types":[],` + tail:                     profiler.ErrModel,
		`{"learner":{"feature_names":["conv_layers"],"feature_types":["float"],` + tail: nil,
		`{"learner":{}}`: profiler.ErrModel,
	} {
		if _, err := Read(t.Context(), testCatalog(t), "x.json", []byte(text)); !errors.Is(err, want) {
			t.Errorf("%.60s: %v, want %v", text, err, want)
		}
	}
}
