package profiler

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// made is measurements of the made-up machine in two settings: the second is
// twice as fast but for the starts of its kernels, which take twenty times as
// long, so that small models are slower there.
var made = sync.OnceValue(func() *measurement.Data {
	rng := rand.New(rand.NewPCG(1, 1))
	d := &measurement.Data{}
	taken := map[string]int{}
	for _, n := range synth.TrainingSet() {
		if taken[n.Family]++; taken[n.Family] > 3 || n.Family == "densenet" || n.Family == "efficientnet" || n.Family == "googlenet" {
			continue // these have hundreds of kernels each
		}
		m, err := synth.New(n.Family, n.Size)
		if err != nil {
			panic(err)
		}
		a, err := onnx.Analyze(m, onnx.Settings{})
		if err != nil {
			panic(err)
		}
		c, err := a.Characteristics()
		if err != nil {
			panic(err)
		}
		for setting, rate := range []float64{1, 0.5} {
			rows := measurement.NewKernels(a.Kernels(onnx.FusionNone))
			sum := 0.0
			for i := range rows {
				k := &rows[i]
				r := truth[k.Class]
				t := rate*(r.seconds(k)-r.Start) + r.Start*[]float64{1, 20}[setting]
				t *= math.Exp(0.02 * rng.NormFloat64())
				k.ModelName, k.Family, k.Setting, k.Runtime, k.Threads, k.Quota, k.Seconds = n.Name, measurement.ModelFamily(n.Family), []string{"desktop-go-t1", "desktop-go-t2"}[setting], "go", float64(setting+1), 1, &t
				sum += t
			}
			d.Kernels = append(d.Kernels, rows...)
			for round := range 4 {
				row := measurement.NewRow(c)
				threads, quota := float64(setting+1), 1.
				row.ModelName, row.Family, row.Setting, row.Runtime, row.Threads, row.Quota, row.Round = n.Name, measurement.ModelFamily(n.Family), rows[0].Setting, "go", &threads, &quota, &round
				row.Time, row.Device, row.UUID = measurement.NewSeconds(sum*(1+0.01*float64(round))), "desktop", "here"
				d.Rows = append(d.Rows, row)
			}
		}
	}
	return d
})

// On a machine that is as simple as the rates suppose, left-out families are
// predicted within a few percent and the fastest device is found; every baseline
// is worse.
func TestTrain(t *testing.T) {
	d := made()
	m, r, err := Train(t.Context(), d, Options{Rounds: 20})
	if err != nil {
		t.Fatal(err)
	}
	if r.Method != MethodKernels || *r.Within10 < 0.8 || *r.Top1 < 0.9 || *r.Regret > 0.02 {
		t.Errorf("%s: MAPE %v, within 10 %% %v, top1 %v, regret %v", r.Method, *r.MAPE, *r.Within10, *r.Top1, *r.Regret)
	}
	for name, b := range r.Baselines {
		if b.Within10 != nil && *b.Within10 > *r.Within10/2 || *b.Regret < *r.Regret {
			t.Errorf("%s: regret %v", name, *b.Regret)
		}
	}
	if *r.Ceiling != 1 || *r.Coverage < 0.7 || r.Rows != len(d.Rows) || r.Families != 8 || r.Devices != 2 || *r.MostFastest > 0.9 {
		t.Errorf("ceiling %v, coverage %v, %d rows, %d families, %d devices, most fastest %v", *r.Ceiling, *r.Coverage, r.Rows, r.Families, r.Devices, *r.MostFastest)
	}
	if len(m.Settings) != 2 || m.Settings[0].Facts.UUID != "here" || !(m.Settings[0].Low < 1 && m.Settings[0].High > 1) {
		t.Errorf("%+v", m.Settings)
	}
	// what is saved predicts the same, and cannot be changed unseen
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := ReadModel(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range Cases(d)[:10] {
		c := &Cases(d)[i]
		want, err := m.PredictRow(&c.Rows[0], c.Kernels)
		if err != nil {
			t.Fatal(err)
		}
		got, err := back.PredictRow(&c.Rows[0], c.Kernels)
		if err != nil || got.Method != MethodKernels || math.Abs(got.Seconds.Value/want.Seconds.Value-1) > 1e-6 {
			t.Errorf("%s: %+v, %v; want %+v", c.Model, got, err, want)
		}
		if got, err = back.PredictRow(&c.Rows[0], nil); err != nil || got.Method != MethodWhole || !(got.Seconds.Low < got.Seconds.Value) {
			t.Errorf("%s by counts: %+v, %v", c.Model, got, err)
		}
	}
	for _, change := range [][2]string{{`"rows":`, `"rows":1`}, {`"schema":3`, `"schema":9`}, {`"kind":"foretime`, `"kind":"other`}, {`"trained"`, `"learnt"`}} {
		spoilt := strings.Replace(b.String(), change[0], change[1], 1)
		if _, err := ReadModel(strings.NewReader(spoilt)); !errors.Is(err, ErrModel) {
			t.Errorf("%s for %s: %v", change[1], change[0], err)
		}
	}
	evaluated, err := back.Evaluate(d)
	if err != nil || *evaluated.Within10 < 0.9 || len(evaluated.Baselines) != 0 {
		t.Errorf("within 10 %% %v, %d baselines, %v", *evaluated.Within10, len(evaluated.Baselines), err)
	}
}

// The same data give the same bytes.
func TestTrainIsDeterministic(t *testing.T) {
	d := made()
	var first []byte
	for range 2 {
		m, err := learn(t.Context(), Cases(d), 20)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Settings {
			c.Low, c.High = 0.5, 2
		}
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Fatal("other bytes")
		}
	}
}

func TestValidations(t *testing.T) {
	d := made()
	for _, v := range []Validation{ByDevice, ByRow} {
		j, err := judge(t.Context(), Cases(d), v, 10)
		if err != nil {
			t.Fatal(err)
		}
		r, err := j.report(d, v)
		if err != nil {
			t.Fatal(err)
		}
		if v == ByRow && r.Tests != operatorless(d) || *r.Within10 < 0.5 {
			t.Errorf("%s: %d tests, within 10 %% %v", v, r.Tests, *r.Within10)
		}
	}
	if _, _, err := Train(t.Context(), d, Options{Validation: "luck", Rounds: 1}); !errors.Is(err, ErrValidation) {
		t.Errorf("%v", err)
	}
}

func operatorless(d *measurement.Data) int {
	n := 0
	for _, r := range d.Rows {
		if r.Family != Operators {
			n++
		}
	}
	return n
}

// What is left out has no part in what it is judged by.
func TestFoldsLeaveOut(t *testing.T) {
	cases := Cases(made())
	for _, v := range []Validation{ByFamily, ByDevice, ByRow} {
		folds, err := foldsOf(t.Context(), cases, v)
		if err != nil {
			t.Fatal(err)
		}
		tested := 0
		for _, f := range folds {
			tested += len(f.tests)
			for _, x := range f.tests {
				c := &cases[x.of]
				if c.Family == Operators {
					t.Errorf("%s: operator chains are judged", v)
				}
				for i := range f.train {
					other := &f.train[i]
					same := v == ByFamily && other.Family == c.Family || v == ByDevice && other.Setting == c.Setting && other.Family != Operators
					if same {
						t.Fatalf("%s: %s in %s is trained on and judged", v, c.Model, c.Setting)
					}
					if v == ByRow && other.Model == c.Model && other.Setting == c.Setting && slices.ContainsFunc(other.Rows, func(r measurement.Row) bool { return r.Time.Value == x.actual }) {
						t.Fatalf("a row of %s is trained on and judged", c.Model)
					}
				}
			}
		}
		if tested < 40 {
			t.Errorf("%s: %d tests", v, tested)
		}
	}
}

// original is rows of the original collector: times depend on the counts, the
// load and the device.
func original(models int) *measurement.Data {
	rng := rand.New(rand.NewPCG(2, 2))
	d := &measurement.Data{}
	for m := range models {
		for _, dev := range []string{"raspberrypi", "jetson"} {
			for range 12 {
				conv, load, cores, filters := float64(3+m*7), 20+60*rng.Float64(), float64(rng.IntN(4)), float64(64*(m+1))
				seconds := 0.02 * conv * (1 + load/200) * (0.98 + 0.04*rng.Float64())
				if dev == "jetson" {
					seconds /= 3
				}
				d.Rows = append(d.Rows, measurement.Row{OriginalColumns: measurement.OriginalColumns{
					ConvLayers: &conv, LoadPercent: &load, StressCores: &cores, FilterDetails: &filters, Device: dev, ModelName: fmt.Sprintf("%c-net", 'a'+m), Time: measurement.NewSeconds(seconds),
				}}.WithSetting())
			}
		}
	}
	return d
}

// Files of the original collector, which tell of no kernels, train trees on
// counts.
func TestTrainOnOriginalRows(t *testing.T) {
	m, r, err := Train(t.Context(), original(10), Options{Validation: ByRow})
	if err != nil {
		t.Fatal(err)
	}
	if r.Method != MethodWhole || r.Models != 10 || r.Devices != 2 || *r.MAPE > 0.1 || *r.Top1 != 1 || r.Rows != 240 || r.Tests != 240 {
		t.Errorf("%s, %d models, %d devices, %d rows, %d tests, top1 %v, MAPE %v", r.Method, r.Models, r.Devices, r.Rows, r.Tests, *r.Top1, *r.MAPE)
	}
	if len(m.Settings) != 0 {
		t.Errorf("settings %v without kernels", m.Settings)
	}
	row := original(3).Rows[0]
	a, err := m.PredictRow(&row, nil)
	if err != nil || math.Abs(a.Seconds.Value/row.Time.Value-1) > 0.2 || len(a.Warnings) != 0 {
		t.Errorf("%+v, %v; want %v", a, err, row.Time)
	}
	row.Setting = "phone"
	if a, err = m.PredictRow(&row, nil); err != nil || !has(a.Warnings, ErrForeign) {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := m.PredictRow(&measurement.Row{OriginalColumns: measurement.OriginalColumns{LoadPercent: row.LoadPercent}, Run: measurement.Run{Setting: row.Setting}}, nil); !errors.Is(err, ErrNoCounts) {
		t.Errorf("a row without its model: %v", err)
	}
	if _, _, err := Train(t.Context(), original(1), Options{}); !errors.Is(err, ErrTooFew) {
		t.Errorf("one family: %v", err)
	}
}

// Trees of a trained model refine what a device's own few measurements say.
func TestCalibrateWithModel(t *testing.T) {
	m, err := learn(t.Context(), Cases(made()), 20)
	if err != nil {
		t.Fatal(err)
	}
	ms := measurements(t, 0.02)
	c, err := m.Calibrate(ms, Facts{Runtime: "go", Threads: 1, UUID: "new"})
	if err != nil {
		t.Fatal(err)
	}
	p := c.Predict(analysis(t, "alexnet", synth.Size{Width: 0.5}), device.Device{Node: "n", UUID: "new", Cores: 2})
	if ratio := p.Idle / ms[0].Seconds; ratio < 0.85 || ratio > 1.15 {
		t.Errorf("predicted %v of %v", p.Idle, ms[0].Seconds)
	}
}

// The original training takes 0 stressed cores for all, of four where a row does
// not say how many there are.
func TestBusy(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	for _, tt := range []struct {
		row  measurement.Row
		want float64
	}{
		{measurement.Row{OriginalColumns: measurement.OriginalColumns{LoadPercent: v(40)}}, 40},
		{measurement.Row{OriginalColumns: measurement.OriginalColumns{LoadPercent: v(40), StressCores: v(0)}}, 40},
		{measurement.Row{OriginalColumns: measurement.OriginalColumns{LoadPercent: v(40), StressCores: v(1)}}, 10},
		{measurement.Row{OriginalColumns: measurement.OriginalColumns{LoadPercent: v(40), StressCores: v(1)}, Host: measurement.Host{Cores: v(2)}}, 20},
		{measurement.Row{OriginalColumns: measurement.OriginalColumns{LoadPercent: v(40), StressCores: v(3)}, Host: measurement.Host{Cores: v(2)}}, 40},
		{measurement.Row{OriginalColumns: measurement.OriginalColumns{LoadPercent: v(0), StressCores: v(0)}, Host: measurement.Host{Cores: v(2)}}, 0},
	} {
		if got := busy(&tt.row); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.row, got, tt.want)
		}
	}
	if got := busy(&measurement.Row{}); !math.IsNaN(got) {
		t.Errorf("no load: %v", got)
	}
}

func TestCases(t *testing.T) {
	round := func(n int) *int { return &n }
	s := func(v float64) *float64 { return &v }
	d := &measurement.Data{
		Rows: []measurement.Row{
			{OriginalColumns: measurement.OriginalColumns{ModelName: "m", Time: measurement.NewSeconds(3)}, Run: measurement.Run{Setting: "s", Runtime: "ort", Round: round(0)}},
			{OriginalColumns: measurement.OriginalColumns{ModelName: "m", Time: measurement.NewSeconds(2)}, Run: measurement.Run{Setting: "s", Runtime: "ort", Round: round(1)}},
			{OriginalColumns: measurement.OriginalColumns{ModelName: "a", Time: measurement.NewSeconds(5)}, Run: measurement.Run{Setting: "s"}},
		},
		Kernels: []measurement.Kernel{
			{ModelName: "m", Setting: "s", Index: 1, Seconds: s(2e-6)}, {ModelName: "m", Setting: "s", Index: 0, Seconds: s(9)}, {ModelName: "m", Setting: "s", Index: 0, Round: 1, Seconds: s(4)},
			{ModelName: "m", Setting: "s", Index: 2}, {ModelName: "none", Setting: "s"},
		},
	}
	got := Cases(d)
	if len(got) != 2 || got[0].Model != "a" || !math.IsNaN(got[0].Repeat) || got[1].Seconds != 2 || got[1].Repeat != 1.5 || len(got[1].Kernels) != 3 || got[1].Kernels[2].Seconds != nil {
		t.Fatalf("%+v", got)
	}
	// the shorter time of each kernel, less the overhead but for a tenth; what
	// is left beyond the whole is of all alike
	k := []float64{*got[1].Kernels[0].Seconds, *got[1].Kernels[1].Seconds}
	if math.Abs(k[0]+k[1]-2) > 1e-12 || math.Abs(k[1]-0.1e-6) > 1e-12 {
		t.Errorf("%v", k)
	}
	if diff := cmp.Diff(9., *d.Kernels[1].Seconds); diff != "" {
		t.Errorf("the measured time itself is changed: %s", diff)
	}
}

// A model of small kernels tells how long profiling takes, a large one does not.
func TestSettle(t *testing.T) {
	timed := func(runtime string, whole float64, kernels ...float64) Case {
		c := Case{Setting: runtime, Runtime: runtime, Seconds: whole}
		for i := range kernels {
			c.Kernels = append(c.Kernels, measurement.Kernel{Index: i, Seconds: &kernels[i]})
		}
		return c
	}
	cases := []Case{
		timed("ort", 5e-6, 3e-6, 3e-6, 5e-6), timed("ort", 0.999e-3, 1e-3, 3e-6), timed("ort", 2e-3, 1.001e-3, 3e-6),
		timed("ort", 1), timed("go", 5e-6, 3e-6, 3e-6, 5e-6),
	}
	subtractOverhead(cases)
	for i, want := range [][]float64{{1e-6, 1e-6, 3e-6}, {0.998e-3, 1e-6}, {1.998e-3, 2e-6}, nil, {3e-6, 3e-6, 5e-6}} {
		for k, w := range want {
			if got := *cases[i].Kernels[k].Seconds; math.Abs(got/w-1) > 1e-3 {
				t.Errorf("case %d, kernel %d: %v, want %v", i, k, got, w)
			}
		}
	}
	none := []Case{timed("ort", 1.001e-3, 1e-3, 1e-6)}
	subtractOverhead(none)
	if got := *none[0].Kernels[1].Seconds; math.Abs(got/1e-6-1) > 0.01 {
		t.Errorf("nothing tells of an overhead: %v", got)
	}
}

// A case's time is the lower quartile of what rows took without the wait for
// processors.
func TestTypical(t *testing.T) {
	var rows []measurement.Row
	for _, wall := range []float64{4, 1.1, 2, 9, 3} {
		r := measurement.Row{OriginalColumns: measurement.OriginalColumns{Time: measurement.NewSeconds(wall)}}
		r.Uncontended = measurement.NewSeconds(wall / 2)
		rows = append(rows, r)
	}
	rows[1].Uncontended = measurement.NewSeconds(1.5) // a mean, above the median of its burst
	if got := typical(rows); got != 1.1 {
		t.Errorf("%v s, want 1.1", got)
	}
	if got := typical(rows[:1]); got != 2 {
		t.Errorf("%v s of one row, want 2", got)
	}
}
