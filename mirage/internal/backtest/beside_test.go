package backtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/mirage/internal/trace"
)

var lightgbm = flag.String("lightgbm", "", "folder of LightGBM's wheel, for TestBesideLightGBM: minutes")

// TestBesideLightGBM holds the forecaster's trees against LightGBM's quantile
// regression as it comes, on the same features, the same jobs to learn from and the
// same instants at which it learns.
func TestBesideLightGBM(t *testing.T) {
	data := os.Getenv("FORETIME_DATA")
	if *lightgbm == "" || data == "" {
		t.Skip("takes minutes: needs -lightgbm and FORETIME_DATA")
	}
	february := time.Date(2023, 2, 1, 0, 0, 0, 0, time.UTC).Unix()
	for _, log := range []struct {
		path string
		from int64
	}{
		{"ls6-a100/ls6-a100-2022-10_2023-02.log", february}, {"alea-swf/hpc2n.swf", 0}, {"alea-swf/wagap-2013-early.swf", 0},
	} {
		ours, theirs, n := besideLightGBM(t, filepath.Join(data, log.path), log.from)
		t.Logf("%s: %d jobs, mean error %.4f h; LightGBM %.4f h", filepath.Base(log.path), n, ours, theirs)
	}
}

// besideLightGBM returns both mean absolute errors in hours over n jobs.
func besideLightGBM(t *testing.T, path string, from int64) (ours, theirs float64, n int) {
	t.Helper()
	log, err := trace.Open(path, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewForecaster(log.Jobs, Settings{From: from})
	if err != nil {
		t.Fatal(err)
	}
	type fit struct {
		First int        `json:"first"`
		Y     []*float64 `json:"y"` // nil is not to be learnt from
	}
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	for !f.Done() {
		j, before := &f.known.jobs[f.next], f.fits
		if err := f.reach(t.Context(), j.Submit); err != nil {
			t.Fatal(err)
		}
		if f.fits > before {
			first := max(f.next-mostRows, f.first)
			told := fit{First: first - f.first}
			for i := first; i < f.next; i++ {
				k := &f.known.jobs[i]
				switch {
				case k.Start >= f.known.now:
					y := transformed(max(censoredFactor*float64(f.known.now-k.Submit), f.values[i]))
					told.Y = append(told.Y, &y)
				case k.NoStart:
					told.Y = append(told.Y, nil)
				default:
					y := transformed(float64(k.Wait()))
					told.Y = append(told.Y, &y)
				}
			}
			if err := out.Encode(told); err != nil {
				t.Fatal(err)
			}
		}
		if f.next < f.first {
			f.admit(nil, 0, 0)
			continue
		}
		x, mean, value, err := f.predictJob(j)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]*float64, len(x))
		for i := range x {
			if !math.IsNaN(x[i]) && !math.IsInf(x[i], 0) {
				row[i] = &x[i]
			}
		}
		if err := out.Encode(map[string]any{"x": row, "judge": f.trees != nil && j.Submit >= from && !j.NoStart}); err != nil {
			t.Fatal(err)
		}
		f.admit(x, mean, value)
	}
	cmd := exec.Command("/usr/bin/python3", "-c", `
import json, sys
import lightgbm, numpy
rows, model = [], None
for line in sys.stdin:
    said = json.loads(line)
    if "y" in said:
        x, y = numpy.array(rows[said["first"]:], dtype=float), numpy.array(said["y"], dtype=float)
        known = ~numpy.isnan(y)
        model = lightgbm.LGBMRegressor(objective="quantile", alpha=.5, n_jobs=1, verbosity=-1).fit(x[known], y[known])
    else:
        rows.append([numpy.nan if v is None else v for v in said["x"]])
        if said["judge"]:
            print(len(rows) - 1, model.booster_.predict(numpy.array([rows[-1]], dtype=float))[0])
`)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+*lightgbm)
	cmd.Stdin, cmd.Stderr = &lines, os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mine, other []float64
	for line := range bytes.Lines(printed) {
		var i int
		var y float64
		if _, err := fmt.Sscan(string(line), &i, &y); err != nil {
			t.Fatal(err)
		}
		i += f.first
		wait := float64(f.known.jobs[i].Wait())
		mine = append(mine, math.Abs(f.values[i]-wait)/3600)
		other = append(other, math.Abs(inverse(y)-wait)/3600)
	}
	return stat.Mean(mine, nil), stat.Mean(other, nil), len(mine)
}
