package trial

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/shared/stats"
)

// surprise is a pair that nobody chose, whose kernels take exponentially distributed
// times: a trace of means tells nothing of that.
func surprise(t *testing.T, seed uint64) *experiment.Experiment {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 10))
	between := func(low, high float64) int { return int(low * math.Pow(high/low, rng.Float64())) }
	pause := func() float64 { return float64(between(2, 100)) / 1e3 }
	x := parse(t, fmt.Sprintf(`{"models": [
		{"model_name": "A", "kernels": %d, "kernel_ns": %d, "sleep_time": %g},
		{"model_name": "B", "kernels": %d, "kernel_ns": %d, "sleep_time": %g, "start_ms": %d}
	], "exp_dur": 4, "min_jobs": 1, "policy": "none", "jitter": 0.05, "seed": %d}`,
		between(50, 2000), between(3e3, 3e5), pause()*float64(rng.IntN(2)), between(20, 1000), between(3e3, 2e5), pause(), between(1, 200), seed))
	for i := range x.Models {
		times := x.Models[i].KernelTimes
		for k := range times {
			times[k] = 1 + time.Duration(float64(times[k])*rng.ExpFloat64())
		}
	}
	return x
}

// What each program of a pair pays is told from how each ran alone.
func TestBeside(t *testing.T) {
	held, cases := 0, 0
	var off, width, half, busy []float64
	for seed := uint64(40); seed < 72; seed++ { // the band was chosen on those from 100 on
		x := surprise(t, seed)
		alone, err := Alone(t.Context(), x, Virtual)
		if err != nil {
			t.Fatal(err)
		}
		both, err := Virtual(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		told, err := Beside(t.Context(), alone, "A", "B")
		if err != nil {
			t.Fatal(err)
		}
		share := 1.0
		for _, m := range alone.Models {
			share *= m.GPUMS / 1e3 * m.Throughput / float64(m.Jobs)
		}
		for k, p := range told {
			speed := both.Run.Models[k].Throughput / alone.Models[k].Throughput
			if p.Contains(speed) {
				held++
			}
			cases++
			off, width = append(off, math.Abs(p.Value-speed)), append(width, p.Width())
			half, busy = append(half, math.Abs(.5-speed)), append(busy, math.Abs(1/(1+share)-speed))
		}
	}
	t.Logf("held %d of %d; median error %.4f (0.9: %.4f), width %.4f; of half the speed %.4f, of busy shares alone %.4f", held, cases,
		stats.Median(off), stats.Sort(off).Quantile(.9), stats.Median(width), stats.Median(half), stats.Median(busy))
	if share := float64(held) / float64(cases); share < 0.85 || share > 0.97 || stats.Median(off) > 0.01 || stats.Median(off) > stats.Median(busy)/2 {
		t.Error("too far off")
	}
}

func TestBesideRefuses(t *testing.T) {
	run := &report.Run{Models: []report.Model{{Output: "A", Jobs: 3}, {Output: "B", Jobs: 1, Launches: math.MaxInt, GPUMS: 1, Throughput: 1}}}
	for _, b := range []string{"A", "B", "C"} {
		if _, err := Beside(t.Context(), run, b, b); !errors.Is(err, ErrNotAlone) {
			t.Errorf("%s: %v", b, err)
		}
	}
}

// Two programs that leave no time to the device, of equal weight, beside each
// other on a GV100: the speed of a production and of another job, of inferences by
// throughput, of training and of scientific computing by the median iteration.
func TestBesideOutcomes(t *testing.T) {
	root := os.Getenv("FORETIME_DATA")
	if root == "" {
		t.Skip("set FORETIME_DATA to the folder of the measured data")
	}
	median := func(path, column string, rows ...string) (all []float64) {
		f, err := os.Open(filepath.Join(root, "xsched-outcomes", path))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		table, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range rows {
			var of []float64
			for _, row := range table[1:] {
				if strings.Contains(strings.Join(row, ","), want) {
					x, err := strconv.ParseFloat(row[slices.Index(table[0], column)], 64)
					if err != nil {
						t.Fatal(err)
					}
					of = append(of, x)
				}
			}
			all = append(all, stats.Median(of))
		}
		return all
	}
	rate := median("share_throughput.csv", "throughput", "standalone,alone", "native,fg", "native,bg")
	train := median("colocated_time.csv", "time_ms", "cotrain,standalone,alone", "cotrain,native,pjob", "cotrain,native,ojob")
	compute := median("colocated_time.csv", "time_ms", "scifin,standalone,pjob", "scifin,standalone,ojob", "scifin,native,pjob", "scifin,native,ojob")
	var off, half []float64
	for _, tt := range []struct {
		name     string
		a, b     float64 // ms of a job alone
		measured [2]float64
	}{
		{"inference", 1e3 / rate[0], 1e3 / rate[0], [2]float64{rate[1] / rate[0], rate[2] / rate[0]}},
		{"training", train[0], train[0], [2]float64{train[0] / train[1], train[0] / train[2]}},
		{"computing", compute[0], compute[1], [2]float64{compute[0] / compute[2], compute[1] / compute[3]}},
	} {
		run := &report.Run{Device: "cuda"}
		for i, ms := range []float64{tt.a, tt.b} {
			run.Models = append(run.Models, report.Model{
				Output: string(rune('A' + i)), Jobs: 1, Launches: 500, GPUMS: ms, Throughput: 1e3 / ms, JCT: report.Summary{Mean: ms},
			})
		}
		told, err := Beside(t.Context(), run, "A", "B")
		if err != nil {
			t.Fatal(err)
		}
		for k, p := range told {
			t.Logf("%s: %.3f, predicted %.3f [%.3f, %.3f]", tt.name, tt.measured[k], p.Value, p.Low, p.High)
			off, half = append(off, math.Abs(p.Value-tt.measured[k])), append(half, math.Abs(0.5-tt.measured[k]))
			if !p.Contains(tt.measured[k]) {
				t.Errorf("%s: %.3f not held", tt.name, tt.measured[k])
			}
		}
	}
	e, simple := stats.Median(off), stats.Median(half) // busy shares of 1 also make it a half
	t.Logf("median error %.3f; of half the speed each, and of busy shares, %.3f", e, simple)
	if e > 0.05 || e > simple/2 {
		t.Errorf("median error %.3f, of half the speed %.3f", e, simple)
	}
}
