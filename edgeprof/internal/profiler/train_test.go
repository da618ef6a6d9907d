package profiler

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
)

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

// Rows of the original collector predict rows that are left out, and the faster device.
func TestTrain(t *testing.T) {
	d := original(10)
	m, r, err := Train(t.Context(), d, ByRow)
	if err != nil {
		t.Fatal(err)
	}
	if r.Models != 10 || r.Devices != 2 || r.Families != 10 || *r.MAPE > 0.1 || *r.Top1 != 1 || *r.Regret != 0 || r.Rows != 240 {
		t.Errorf("%d models, %d devices, %d families, %d rows, top1 %v, regret %v, MAPE %v", r.Models, r.Devices, r.Families, r.Rows, *r.Top1, *r.Regret, *r.MAPE)
	}
	row := d.Rows[0]
	want, doubts, err := m.PredictRow(&row)
	if err != nil || math.Abs(want.Value/row.Time.Value-1) > 0.2 || len(doubts) != 0 || !(want.Low < want.Value && want.Value < want.High) {
		t.Errorf("%+v, %v, %v; want %v", want, doubts, err, row.Time)
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
	if got, _, err := back.PredictRow(&row); err != nil || math.Abs(got.Value/want.Value-1) > 1e-6 {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, change := range [][2]string{{`"rows":`, `"rows":1`}, {`"schema":4`, `"schema":9`}, {`"kind":"foretime`, `"kind":"other`}, {`"trained"`, `"learnt"`}} {
		spoilt := strings.Replace(b.String(), change[0], change[1], 1)
		if _, err := ReadModel(strings.NewReader(spoilt)); !errors.Is(err, ErrModel) {
			t.Errorf("%s for %s: %v", change[1], change[0], err)
		}
	}
	row.Setting = "phone"
	if got, doubts, err := m.PredictRow(&row); err != nil || !has(doubts, ErrForeign) {
		t.Errorf("%+v, %v, %v", got, doubts, err)
	}
	if _, _, err := m.PredictRow(&measurement.Row{OriginalColumns: measurement.OriginalColumns{LoadPercent: row.LoadPercent}, Run: measurement.Run{Setting: row.Setting}}); !errors.Is(err, ErrNoCounts) {
		t.Errorf("a row without its model: %v", err)
	}
}

// A choice of devices is scored by the mean times of each model on them: how often the fastest
// is chosen, and by how much the chosen one is slower.
func TestScoreChoices(t *testing.T) {
	var rows []measurement.Row
	var predicted []float64
	add := func(model, device string, measured, said float64) {
		r := measurement.Row{Run: measurement.Run{Setting: device}}
		r.ModelName, r.Time = model, measurement.NewSeconds(measured)
		rows, predicted = append(rows, r), append(predicted, said)
	}
	for range 3 { // as often as it was measured says nothing of a device
		add("a", "fast", 2, 3)
	}
	add("a", "slow", 5, 1)
	add("a", "slow", 3, 3)
	add("a", "slowest", 9, 8)
	add("b", "fast", 1, 1)
	add("b", "slow", 2, 2)
	add("c", "one", 1, 1) // of equal ones the first counts as the fastest
	add("c", "two", 1, 2)
	add("A", "fast", 1, 9) // there is nothing to choose
	r := &Report{}
	r.scoreChoices(rows, predicted)
	if *r.Top1 != 2.0/3 || *r.Regret != (4.0/2-1)/3 {
		t.Errorf("%v of the choices are right, and their regret is %v", *r.Top1, *r.Regret)
	}
	if r.scoreChoices(rows[:1], predicted); r.Top1 != nil || r.Regret != nil {
		t.Errorf("without a choice: %v, %v", r.Top1, r.Regret)
	}
}

// The same data give the same bytes.
func TestTrainIsDeterministic(t *testing.T) {
	var first []byte
	for range 2 {
		m, _, err := Train(t.Context(), original(4), ByFamily)
		if err != nil {
			t.Fatal(err)
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
	if _, _, err := Train(t.Context(), original(3), "luck"); !errors.Is(err, ErrValidation) {
		t.Errorf("%v", err)
	}
	if _, _, err := Train(t.Context(), original(1), ""); !errors.Is(err, ErrTooFew) {
		t.Errorf("one family: %v", err)
	}
	if _, r, err := Train(t.Context(), original(1), ByDevice); err != nil || r.Families != 1 || r.Validation != ByDevice {
		t.Errorf("one family on two devices: %+v, %v", r, err)
	}
}

// What is left out has no part in what it is judged by.
func TestFoldsLeaveOut(t *testing.T) {
	rows := original(5).Rows
	for v, group := range map[Validation]func(int) string{
		ByFamily: func(r int) string { return rows[r].Family },
		ByDevice: func(r int) string { return rows[r].Setting },
		ByRow:    func(r int) string { return fmt.Sprint(r) },
	} {
		folds, err := foldsOf(rows, v)
		if err != nil {
			t.Fatal(err)
		}
		tested := map[int]bool{}
		for _, f := range folds {
			left := map[string]bool{}
			for _, r := range f.Test {
				tested[r], left[group(r)] = true, true
			}
			for _, r := range f.Train {
				if left[group(r)] {
					t.Fatalf("%s: %s is trained on and judged", v, group(r))
				}
			}
		}
		if len(tested) != len(rows) {
			t.Errorf("%s: %d of %d rows tested", v, len(tested), len(rows))
		}
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

// What the kernels of a model sum to beyond the whole is the time of profiling them.
func TestPrepareKernels(t *testing.T) {
	timed := func(whole float64, kernels ...float64) Case {
		c := Case{Seconds: whole}
		for i := range kernels {
			c.Kernels = append(c.Kernels, measurement.Kernel{Index: i, Seconds: &kernels[i]})
		}
		return c
	}
	for name, one := range map[string]struct {
		c    Case
		want []float64
	}{
		"small":             {timed(5e-6, 3e-6, 3e-6, 5e-6), []float64{1e-6, 1e-6, 3e-6}},
		"large":             {timed(0.999e-3, 1e-3, 3e-6), []float64{0.998e-3, 1e-6}},
		"a tenth stays":     {timed(0.995e-3, 1e-3, 3e-6), []float64{0.9947e-3, 0.2996e-6}},
		"another program's": {timed(1e-3, 2e-3, 1e-3), []float64{0.6676e-3, 0.3324e-3}},
		"none":              {timed(1.001e-3, 1e-3, 1e-6), []float64{1e-3, 1e-6}},
		"no kernels":        {timed(1), nil},
	} {
		one.c.prepareKernels()
		for k, w := range one.want {
			if got := *one.c.Kernels[k].Seconds; math.Abs(got/w-1) > 1e-3 {
				t.Errorf("%s, kernel %d: %v, want %v", name, k, got, w)
			}
		}
	}
}

// A case's time is the lower quartile of its bursts.
func TestTypicalSeconds(t *testing.T) {
	c := Case{Times: []float64{2, 1.1, 1.5, 9, 3}}
	if got := c.TypicalSeconds(); got != 1.5 {
		t.Errorf("%v s, want 1.5", got)
	}
	c.Times = c.Times[:1]
	if got := c.TypicalSeconds(); got != 2 {
		t.Errorf("%v s of one burst, want 2", got)
	}
}
