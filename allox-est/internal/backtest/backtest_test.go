package backtest

import (
	"compress/gzip"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/uncertainty"
)

func TestLoad(t *testing.T) {
	const text = "step,worker,seconds\n0,a,1.5\n0,b,2\n1,a,x\n1,b\n2,a,-1\n2,\"a,3\n"
	path := filepath.Join(t.TempDir(), "steps.csv")
	zipped := path + ".gz"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(zipped)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, zipped} {
		all, diagnostics, err := Load(path, "worker", []string{"none", "seconds"})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 2 || all[0].Name != "a" || len(all[0].Values) != 1 || all[1].Values[0] != 2 {
			t.Errorf("%s: %v", path, all)
		}
		var lines []string
		for _, d := range diagnostics {
			lines = append(lines, strings.TrimPrefix(d.Error(), path))
		}
		want := []string{`:4: "x" is not a time`, ":5: wrong number of fields", `:6: "-1" is not a time`, ":7: extraneous or missing \" in quoted-field"}
		if strings.Join(lines, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q", path, lines)
		}
	}
	for header, column := range map[string]string{"a,b\n": "seconds", "worker,seconds,seconds\n": "seconds"} {
		if _, _, err := read(strings.NewReader(header), "x.csv", "worker", []string{column}); !errors.Is(err, ErrColumn) {
			t.Errorf("%q: %v", header, err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	if _, err := Run([]Series{{Name: "a", Values: []float64{1, 2}}, {Name: "b", Values: make([]float64, 100)}}, 0.03, BlockOf, func(float64) {}); !errors.Is(err, ErrTooFew) {
		t.Error(err)
	}
	for _, fraction := range []float64{0, 1, -1} {
		if _, err := Run([]Series{{Name: "a", Values: []float64{1, 2, 3, 4, 5}}}, fraction, BlockOf, func(float64) {}); err == nil {
			t.Errorf("fraction %v", fraction)
		}
	}
}

// Steps that are independent are held, and the error is in percent of the sum.
func TestRunOnIndependentSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var all []Series
	for i := range 400 {
		s := Series{Name: string(rune('a' + i))}
		for range 300 {
			s.Values = append(s.Values, 10+rng.NormFloat64())
		}
		all = append(all, s)
	}
	shares := []float64{0}
	r, err := Run(all, 0.1, BlockOf, func(share float64) { shares = append(shares, share) })
	if len(shares) != 1+len(Methods) || !slices.IsSorted(shares) || shares[len(shares)-1] != 1 {
		t.Errorf("%d shares of the work, the last %v", len(shares), shares[len(shares)-1])
	}
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Methods["auto"]; a.Coverage < 0.95 || a.Refused > 0 || a.MAPE < 1 || a.MAPE > 3 { // the recent rate is of six steps with a noise of a tenth
		t.Errorf("auto: %+v", a)
	}
}

// A run that grows from 1 to 2 without noise is held or refused.
func TestRamp(t *testing.T) {
	ramp := Series{Name: "ramp"}
	for i := range 1000 {
		ramp.Values = append(ramp.Values, 1+float64(i)/999)
	}
	for _, fraction := range []float64{0.01, 0.03, 0.1, 0.25, 0.5} {
		r, err := Run([]Series{ramp}, fraction, BlockOf, func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		if a := r.Of[0]; !a.Refused && !a.Total.Contains(a.Actual) {
			t.Errorf("%v: %+v %+v", fraction, a, a.Total)
		}
	}
}

func TestBlockOf(t *testing.T) {
	for name, want := range map[string]string{"job_1_w0": "job_1", "job_1_w12": "job_1", "17": "17", "a": "a", "run-3": "run"} {
		if got := BlockOf(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// On measured series: training workers on a shared cluster, one benchmark repeated
// for months, and training runs whose schedule changes the work. Auto holds nine in
// ten of what it does not refuse, refuses a quarter at most where no schedule is, and
// its interval score is at most 5 % worse than split conformal's.
func TestMeasuredSeries(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("needs the data that FORETIME_DATA names")
	}
	for _, set := range []struct {
		path, value string
		refused     float64
	}{
		{"steps-pai/minibatch.csv", "batch_time_norm", 0.25},
		{"steps-azure/values.csv.gz", "value", 0.25},
		{"steps-nanogpt/steps.csv", "seconds", 1},
	} {
		all, diagnostics, err := Load(filepath.Join(data, filepath.FromSlash(set.path)), "series", []string{set.value})
		if err != nil || len(diagnostics) > 0 {
			t.Fatal(err, diagnostics)
		}
		for _, fraction := range []float64{0.03, 0.1, 0.25, 0.5} {
			r, err := Run(all, fraction, BlockOf, func(float64) {})
			if err != nil {
				t.Fatal(err)
			}
			ts, _ := trials(all, fraction, BlockOf)
			conformal(ts)
			auto, beside := r.Methods["auto"], scoreOf(ts)
			t.Logf("%s %v: %d series: %.3f held of those not refused (%.2f), score %.3f, conformal %.3f", set.path, fraction, r.Series, auto.Coverage, auto.Refused, auto.IntervalScore, beside.IntervalScore)
			if auto.Coverage < 0.9 || auto.Refused > set.refused || auto.IntervalScore > 1.05*beside.IntervalScore {
				t.Errorf("%s %v: %+v, conformal %+v", set.path, fraction, auto, beside)
			}
		}
	}
}

// TestMeasuredStages: told that the work changes at each quarter of a run, and with three steps
// of each later quarter, the estimate misses the total by 6 % at most.
func TestMeasuredStages(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("needs the data that FORETIME_DATA names")
	}
	all, _, err := Load(filepath.Join(data, "steps-nanogpt", "steps.csv"), "series", []string{"seconds"})
	if err != nil {
		t.Fatal(err)
	}
	for _, fraction := range []float64{0.03, 0.1, 0.25, 0.5} {
		ts, _ := trials(all, fraction, BlockOf)
		sum := 0.0
		for _, one := range ts {
			n, marks := len(one.series.Values), marksOf(one.series.Values)
			job := estimate.Job{Epochs: n, Unit: "step"}
			var probes [][]progress.Mark
			for k := range 4 {
				from, to := k*n/4, (k+1)*n/4
				job.Stages = append(job.Stages, jobspec.Stage{Name: strconv.Itoa(k), From: float64(from), To: float64(to)})
				if begin := (max(from, one.seen) + to - least) / 2; to > one.seen {
					probes = append(probes, marks[begin:begin+least+1])
				}
			}
			rest, err := estimate.Forecast(marks[:one.seen+1], probes, job, Level, nil)
			if err != nil {
				t.Fatal(err)
			}
			sum += 100 * math.Abs(rest.Total.Value/one.actual-1)
		}
		t.Logf("%v: %.2f %%", fraction, sum/float64(len(ts)))
		if sum/float64(len(ts)) > 6 {
			t.Errorf("%v: %.2f %%", fraction, sum/float64(len(ts)))
		}
	}
}

// conformal is the factor of the mean rate that held so many of the series of other
// blocks (Lei et al. 2018, Distribution-free predictive inference for regression,
// section 2.2); the largest of few.
func conformal(ts []trial) {
	residuals := make([]float64, len(ts))
	for i := range ts {
		t := &ts[i]
		t.Prediction = uncertainty.Point(stat.Mean(t.series.Values[:t.seen], nil) * float64(len(t.series.Values)))
		residuals[i] = math.Abs(math.Log(t.actual / t.Value))
	}
	for i := range ts {
		var others []float64
		for j, t := range ts {
			if t.block != ts[i].block {
				others = append(others, residuals[j])
			}
		}
		if len(others) == 0 {
			ts[i].refused = errors.New("no other block")
			continue
		}
		slices.Sort(others)
		rank := min(len(others), int(math.Ceil(Level*float64(len(others)+1))))
		ts[i].Low, ts[i].High = ts[i].Value*math.Exp(-others[rank-1]), ts[i].Value*math.Exp(others[rank-1])
	}
}
