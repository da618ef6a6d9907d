package profiler

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

func isNear(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-12)
}

// kernelOf returns a kernel of a class with so many multiply-accumulates and bytes of each kind.
func kernelOf(class onnx.Class, macs, bytes int64) measurement.Kernel {
	return measurement.Kernel{Kernel: onnx.Kernel{Class: class, Work: onnx.Work{MACs: macs, ReadBytes: bytes}, Times: 1}}
}

// The seconds of a kernel are its start, its sums and its bytes; an effort
// multiplies all but the start.
func TestRatesByHand(t *testing.T) {
	r := Rates{Start: 2, MAC: 3, Byte: 5}
	k := kernelOf(onnx.ClassConv, 7, 11)
	k.ParameterBytes, k.WrittenBytes, k.Unfolded = 1, 1, 10
	for _, tt := range []struct {
		class          onnx.Class
		effort         float64
		seconds, total float64
	}{
		{onnx.ClassConv, 0, 2 + 21 + 65, 88}, {onnx.ClassConv, 1, 88, 88}, {onnx.ClassConv, 2, 88, 174}, {onnx.ClassConv, .5, 88, 45},
		{onnx.ClassConv1D, 0, 2 + 21 + 5*(13+40), 288}, {onnx.ClassConv3D, 0, 288, 288}, {onnx.ClassDepthwiseND, 0, 88, 88},
	} {
		k.Class, k.Effort = tt.class, tt.effort
		if got := r.seconds(&k); got != tt.seconds {
			t.Errorf("%s: %v s, want %v", tt.class, got, tt.seconds)
		}
		if got := r.total(&k); !isNear(got, tt.total) {
			t.Errorf("%s with an effort of %v: %v s, want %v", tt.class, tt.effort, got, tt.total)
		}
	}
	c := &Calibration{Rates: map[onnx.Class]Rates{onnx.ClassConv: r}, Scale: 2}
	k.Class, k.Effort = onnx.ClassConv, 0
	for times, want := range map[int64]float64{0: 176, 1: 176, 3: 528} {
		k.Times = times
		if got := c.idle([]measurement.Kernel{k}); got != want {
			t.Errorf("%d times: %v s, want %v", times, got, want)
		}
	}
	if c.Scale = 0; c.scale() != 1 {
		t.Error("no scale is 1")
	}
	for n, want := range map[int]bool{0: false, 1: false, 2: false, 3: true, 4: true} {
		var kernels []*measurement.Kernel
		for i := range 4 {
			one := kernelOf(onnx.ClassDense, 0, 5)
			if i < n {
				one.MACs = 1
			}
			kernels = append(kernels, &one)
		}
		if got := multiplies(kernels); got != want {
			t.Errorf("%d of 4 multiply: %v", n, got)
		}
	}
	vector := kernelOf(onnx.ClassVector, 9, 9)
	if multiplies([]*measurement.Kernel{&vector}) {
		t.Error("a vector's sums follow from its bytes")
	}
}

// timed returns kernels of a class with the seconds that rates make of them.
func timed(class onnx.Class, r Rates, sizes ...[2]int64) []measurement.Kernel {
	var kernels []measurement.Kernel
	for _, s := range sizes {
		k := kernelOf(class, s[0], s[1])
		seconds := r.total(&k)
		k.Seconds = &seconds
		kernels = append(kernels, k)
	}
	return kernels
}

// Three measured kernels get rates of their own, two those of their kin, or of all.
func TestRatesOfFewKernels(t *testing.T) {
	sizes := [][2]int64{{1e9, 1e6}, {2e9, 8e6}, {1e8, 3e7}, {5e8, 1e7}}
	conv := Rates{Start: 1e-5, MAC: 1e-10, Byte: 2e-10}
	dense := Rates{Start: 3e-5, MAC: 2e-10, Byte: 1e-10}
	kernels := slices.Concat(timed(onnx.ClassConv, conv, sizes...), timed(onnx.ClassDense, dense, sizes[:3]...), timed(onnx.ClassDepthwise, dense, sizes[:2]...))
	wrong := kernelOf(onnx.ClassConv, 1, 1)
	zero, long := 0.0, 1e6
	wrong.Seconds = &zero
	unmet := kernelOf(onnx.ClassConv, 1, 1)
	unmet.Seconds, unmet.Unmet = &long, true
	kernels = append(kernels, wrong, unmet, kernelOf(onnx.ClassConv, 1, 1))
	rates := ratesFor([]Case{{Kernels: kernels[:5]}, {Kernels: kernels[5:]}})
	alike := func(a, b Rates) bool {
		return math.Abs(a.Start/b.Start-1) < 1e-6 && math.Abs(a.MAC/b.MAC-1) < 1e-6 && math.Abs(a.Byte/b.Byte-1) < 1e-6
	}
	for class, want := range map[onnx.Class]struct {
		rates Rates
		nodes int
	}{onnx.ClassConv: {conv, 4}, onnx.ClassDense: {dense, 3}, onnx.ClassConv1D: {conv, 0}, onnx.ClassVector: {dense, 0}, onnx.ClassConv8: {conv, 0}, onnx.ClassDense8: {dense, 0}} {
		if got := rates[class]; !alike(got, want.rates) || got.Nodes != want.nodes {
			t.Errorf("%s: %+v, want %+v of %d", class, got, want.rates, want.nodes)
		}
	}
	if rates[onnx.ClassDepthwise].Nodes != 0 || rates[onnx.ClassDepthwise] != rates[onnx.ClassRecurrent] {
		t.Errorf("two kernels have rates of their own: %+v", rates[onnx.ClassDepthwise])
	}
	// An effort is no part of the rates.
	effort := timed(onnx.ClassConv, conv, sizes...)
	for i := range effort {
		effort[i].Effort = float64(i + 1)
		s := conv.total(&effort[i])
		effort[i].Seconds = &s
	}
	if got := ratesFor([]Case{{Kernels: effort}})[onnx.ClassConv]; !alike(got, conv) {
		t.Errorf("with efforts %+v, want %+v", got, conv)
	}
	// Where bytes alone explain the times of kernels that multiply, sums have the rate.
	bytes := timed(onnx.ClassDense, Rates{Start: 1e-5, Byte: 1e-9}, [2]int64{1e8, 1e8}, [2]int64{2e8, 2e8}, [2]int64{4e8, 4e8})
	if got := ratesFor([]Case{{Kernels: bytes}})[onnx.ClassDense]; got.MAC == 0 || got.Byte != 0 {
		t.Errorf("products without a rate of sums: %+v", got)
	}
	c := &Calibration{Rates: map[onnx.Class]Rates{onnx.ClassConv: {Start: 1, Nodes: 3}, onnx.ClassConv1D: {Start: 2, Nodes: 4}}, All: &Calibration{Rates: map[onnx.Class]Rates{onnx.ClassDense: {Start: 7, Nodes: 3}}}}
	c.Complete()
	if c.Rates[onnx.ClassConv3D] != (Rates{Start: 1}) || c.Rates[onnx.ClassConv1D] != (Rates{Start: 2, Nodes: 4}) || c.All.Rates[onnx.ClassVector] != (Rates{Start: 7}) {
		t.Errorf("%+v, %+v", c.Rates, c.All.Rates)
	}
}

// Each second in a kernel that was not met may be ten times shorter or longer,
// each in an unusual operator twice; from half on the time has no upper end.
func TestIntervalsByHand(t *testing.T) {
	c := &Calibration{Rates: map[onnx.Class]Rates{onnx.ClassConv: {Nodes: 3}, onnx.ClassDense: {}}, Low: .5, High: 2, Shortest: 3, Longest: 3}
	plain, unseen, unmet := kernelOf(onnx.ClassConv, 1, 1), kernelOf(onnx.ClassDense, 1, 1), kernelOf(onnx.ClassConv, 1, 1)
	unmet.Unmet, unmet.Op = true, "Odd"
	eight := kernelOf(onnx.ClassDense8, 1, 1)
	with := func(effort float64) measurement.Kernel {
		k := plain
		k.Effort = effort
		return k
	}
	for _, tt := range []struct {
		name            string
		kernels         []measurement.Kernel
		seconds         []float64
		guessed, effort float64
		warnings        int
	}{
		{"all measured", []measurement.Kernel{plain, plain}, []float64{4, 6}, 0, 0, 0},
		{"a class", []measurement.Kernel{plain, unseen}, []float64{8, 2}, .2, 0, 1},
		{"a class twice", []measurement.Kernel{plain, unseen, unseen}, []float64{6, 2, 2}, .4, 0, 1},
		{"a class, before another", []measurement.Kernel{eight, unseen}, []float64{8, 2}, .2, 0, 1},
		{"half", []measurement.Kernel{plain, unseen}, []float64{5, 5}, .5, 0, 1},
		{"a form", []measurement.Kernel{plain, unmet}, []float64{7, 3}, .3, 0, 0},
		{"usual efforts", []measurement.Kernel{with(1.5), with(1 / 1.5)}, []float64{5, 5}, 0, 0, 0},
		{"great efforts", []measurement.Kernel{plain, with(1.51)}, []float64{6, 4}, 0, .4, 0},
		{"small efforts", []measurement.Kernel{plain, with(.66)}, []float64{9, 1}, 0, .1, 0},
		{"both", []measurement.Kernel{plain, with(.1), unmet}, []float64{5, 2, 3}, .3, .2, 0},
	} {
		band, warnings := c.interval(tt.kernels, tt.seconds, 10)
		low, high := 1-.9*tt.guessed-.5*tt.effort, 1+9*tt.guessed+tt.effort
		if !isNear(band.Low, .5*low) || !isNear(band.High, 2*high) || len(warnings) != tt.warnings+1 { // the time is not among those measured
			t.Errorf("%s: from %v to %v, %v; want from %v to %v", tt.name, band.Low, band.High, warnings, .5*low, 2*high)
		}
	}
	band, warnings := c.interval([]measurement.Kernel{plain, unmet, unmet}, []float64{4, 3, 3}, 10)
	if !math.IsInf(band.High, 1) || !errors.Is(warnings[len(warnings)-1], ErrUnmet) {
		t.Errorf("six tenths: %+v, %v", band, warnings)
	}
	if band, _ = c.interval([]measurement.Kernel{unseen, with(9)}, []float64{10, 10}, 10); !isNear(band.Low, .5/10) {
		t.Errorf("more than a tenth shorter: %v", band.Low)
	}
	for seconds, want := range map[float64]int{1: 0, .999: 1, 9: 0, 9.01: 1} {
		if got := c.unlike(seconds); len(got) != want {
			t.Errorf("%v s: %v", seconds, got)
		}
	}
	c.Dispatch = 4
	for seconds, want := range map[float64]float64{4: 2, 1: 3, 16: 1.5, 0: 1, -1: 1} {
		if got := c.doubt(seconds); got != want {
			t.Errorf("doubt of %v s: %v, want %v", seconds, got, want)
		}
	}
	if b := c.band(4); !isNear(b.Low, .25) || !isNear(b.High, 4) {
		t.Errorf("%+v", b)
	}
	if c.Dispatch = 0; c.doubt(4) != 1 {
		t.Error("without a dispatch")
	}
}

// The doubt is that of the part without rates of its precision.
func TestPrecisionByHand(t *testing.T) {
	c := &Calibration{Rates: map[onnx.Class]Rates{onnx.ClassConv8: {Nodes: 3}}}
	known, other, plain := kernelOf(onnx.ClassConv8, 1, 1), kernelOf(onnx.ClassDense8, 1, 1), kernelOf(onnx.ClassConv, 1, 1)
	known.Precision = "int8"
	other.Precision = "float16"
	for _, tt := range []struct {
		seconds  []float64
		part     float64
		measured bool
	}{
		{[]float64{6, 2, 9}, .25, true}, {[]float64{5, 5, 9}, .5, false}, {[]float64{0, 5, 9}, 1, false}, {[]float64{7, 0, 0}, 0, true}, {[]float64{0, 1e-6, 0}, .2, true},
	} {
		log, measured := c.roundedBy([]measurement.Kernel{known, other, plain}, tt.seconds)
		if want := tt.part*math.Log(3) + (1-tt.part)*math.Log(1.6); !isNear(log, want) || measured != tt.measured {
			t.Errorf("%v: %v, %v; want %v", tt.seconds, log, measured, want)
		}
	}
	if got := precisionOf([]measurement.Kernel{known, other, plain, known}); got != "float16, int8" {
		t.Errorf("precisions %s", got)
	}
	band, warnings := (&Calibration{Rates: map[onnx.Class]Rates{onnx.ClassConv: {Nodes: 1}}, Low: 1, High: 1, Shortest: 1, Longest: 1}).interval([]measurement.Kernel{other}, []float64{1}, 1)
	if !isNear(band.High, 3) || !isNear(band.Low, 1./3) || len(warnings) != 1 {
		t.Errorf("all in another precision: %+v, %v", band, warnings)
	}
}

// Each task has its part of the cores, as far as an inference is longer than ten
// milliseconds.
func TestLoadByHand(t *testing.T) {
	for _, tt := range []struct {
		threads    int
		tasks      float64
		cores      int
		seconds    float64
		log, doubt float64
	}{
		{1, 0, 4, 1, 0, 0}, {1, 3, 4, 1, 0, 0}, {1, 7, 4, .01, math.Ln2 / 2, math.Ln2 / 2}, {1, 7, 4, .03, math.Ln2 * .75, math.Ln2 / 2}, {0, 7, 4, .03, math.Ln2 * .75, math.Ln2 / 2}, {4, 4, 4, .001, math.Ln2, math.Ln2 * 2 / 3}, {1, 1, 0, .01, math.Ln2 / 2, math.Ln2 / 2},
	} {
		d := device.Device{Cores: tt.cores}
		d.Load.ProbedTasks = &tt.tasks
		log, doubt := (&Calibration{Facts: Facts{Threads: tt.threads}}).slowdown(&d, tt.seconds)
		if !isNear(log, tt.log) || !isNear(doubt, tt.doubt) {
			t.Errorf("%+v: %v, %v", tt, log, doubt)
		}
	}
}

// TestThreadsByHand checks Amdahl's law from the two numbers of threads that were measured.
func TestThreadsByHand(t *testing.T) {
	if got := amdahl(.8, 4); !isNear(got, .4) {
		t.Errorf("four threads: %v", got)
	}
	rates := func(r Rates) map[onnx.Class]Rates {
		m := map[onnx.Class]Rates{}
		for _, class := range classes {
			m[class] = r
		}
		return m
	}
	one := &Calibration{Facts: Facts{Threads: 1}, Rates: rates(Rates{Start: 1, MAC: 8, Byte: 10, Nodes: 5}), Low: .5, High: 2}
	if one.ForThreads(1) != one || one.ForThreads(0) != one {
		t.Error("as many as were measured")
	}
	four := one.ForThreads(4)
	if got := four.Rates[onnx.ClassConv]; !isNear(got.Start, 1) || !isNear(got.MAC, 3.2) || !isNear(got.Byte, 4) || got.Nodes != 5 || four.Facts.Threads != 4 {
		t.Errorf("%+v", got)
	}
	if want := math.Exp(math.Hypot(math.Ln2, .3*math.Log(4))); !isNear(four.High, want) || !isNear(four.Low, 1/want) {
		t.Errorf("from %v to %v, want to %v", four.Low, four.High, want)
	}
	// All eight cores: sums take a quarter, so a share of 6/7; bytes take all their time.
	one.All = &Calibration{Facts: Facts{Threads: 8}, Rates: rates(Rates{Start: 3, MAC: 2, Byte: 10}), Low: .25, High: 4}
	if one.ForThreads(8) != one.All {
		t.Error("as many as all cores")
	}
	two := one.ForThreads(2)
	if got := two.Rates[onnx.ClassConv]; !isNear(got.Start, 3) || !isNear(got.MAC, 8*(1-6./7+3./7)) || !isNear(got.Byte, 10) {
		t.Errorf("%+v", got)
	}
	if want := math.Exp(math.Hypot(math.Log(4), .3*math.Log(4))); !isNear(two.High, want) {
		t.Errorf("to %v, want %v", two.High, want)
	}
	one.Scale, one.All.Scale = 2, 4
	// Sums take 16 with one thread and 8 with all: a share of 4/7; two threads take 16 of (1-4/7+2/7).
	if got := one.ForThreads(2); !isNear(got.Rates[onnx.ClassConv].MAC*got.scale(), 16*5./7) {
		t.Errorf("%v of %v", got.Rates[onnx.ClassConv].MAC, got.scale())
	}
	two = &Calibration{Facts: Facts{Threads: 2}, Rates: rates(Rates{MAC: 6}), Low: 1, High: 1}
	if got := two.ForThreads(4).Rates[onnx.ClassConv].MAC; !isNear(got, 6*.4/.6) {
		t.Errorf("from two to four: %v", got)
	}
}

// TestExcessByHand checks the mean logarithm of the times over the shortest, and the time that it takes off.
func TestExcessByHand(t *testing.T) {
	c := Case{Times: []float64{4, 2, 2 * math.E}}
	if got, ok := c.excess(); !ok || !isNear(got, (math.Ln2+1)/3) {
		t.Errorf("%v, %v", got, ok)
	}
	if got := c.TypicalSeconds(); got != 2 {
		t.Errorf("typical %v", got)
	}
	if got := (&Case{Times: []float64{5, 4, 3, 2, 1}}).TypicalSeconds(); got != 2 {
		t.Errorf("the lower quartile of five is %v", got)
	}
	for _, times := range [][]float64{nil, {3}, {0, 3}} {
		if _, ok := (&Case{Times: times}).excess(); ok {
			t.Errorf("%v are known", times)
		}
	}
	if got, ok := excess([]Case{c, {}, {Times: []float64{3, 3}}}); !ok || !isNear(got, (math.Ln2+1)/6) {
		t.Errorf("mean %v, %v", got, ok)
	}
	if got, ok := excess([]Case{{}}); ok || got != .17 {
		t.Errorf("of none %v, %v", got, ok)
	}
	for _, tt := range []struct{ tasks, excess, want float64 }{{.5, 1.05, 2}, {.51, 1.05, 2 / math.E}, {.51, .04, 2}, {.51, .05, 2}} {
		c := &Calibration{Scale: 2, Facts: Facts{ProbedTasks: &tt.tasks, Excess: tt.excess}}
		if c.removeOtherWork(); !isNear(c.Scale, tt.want) {
			t.Errorf("%+v: scale %v", tt, c.Scale)
		}
	}
}

// The excess of the kernels' sum over the whole comes off each kernel, at most 8 µs and nine
// tenths of it, and the rest is scaled to the whole.
func TestOverheadByHand(t *testing.T) {
	for _, tt := range []struct {
		whole float64
		times []float64
		op    string
		want  []float64
	}{
		{10e-6, []float64{5e-6, 7e-6}, "Conv", []float64{4e-6, 6e-6}},
		{12e-6, []float64{5e-6, 5e-6}, "Conv", []float64{6e-6, 6e-6}},
		{60e-6, []float64{50e-6, 90e-6}, "Conv", []float64{60e-6 * 42 / 124, 60e-6 * 82 / 124}},
		{8.1e-6, []float64{1e-6, 16e-6}, "Conv", []float64{8.1e-6 * .1 / 11.65, 8.1e-6 * 11.55 / 11.65}},
		{10e-6, []float64{5e-6, 7e-6}, "If", nil}, {10e-6, []float64{5e-6, 7e-6}, "Loop", nil}, {10e-6, []float64{5e-6, 7e-6}, "Scan", nil},
	} {
		c := Case{Seconds: tt.whole}
		for _, s := range tt.times {
			k := kernelOf(onnx.ClassConv, 1, 1)
			k.Seconds = &s
			c.Kernels = append(c.Kernels, k)
		}
		c.Kernels[0].Op = tt.op
		c.Kernels = append(c.Kernels, kernelOf(onnx.ClassConv, 1, 1))
		before := c.Kernels
		c.prepareKernels()
		for i, k := range c.Kernels {
			switch {
			case i >= len(tt.want):
				if k.Seconds != nil {
					t.Errorf("%s: kernel %d has %v s", tt.op, i, *k.Seconds)
				}
			case !isNear(*k.Seconds, tt.want[i]):
				t.Errorf("%v s of %v: kernel %d has %v, want %v", tt.whole, tt.times, i, *k.Seconds, tt.want[i])
			}
		}
		if *before[0].Seconds != tt.times[0] {
			t.Error("the measurement has changed")
		}
	}
}

// TestBandsByHand checks Student's interval of few errors, about their mean, which holds 1.
func TestBandsByHand(t *testing.T) {
	of := func(ratios ...float64) (errs []Error) {
		for _, r := range ratios {
			errs = append(errs, Error{Measured: 3 * r, Predicted: 3})
		}
		return errs
	}
	q := func(nu float64) float64 { return distuv.StudentsT{Sigma: 1, Nu: nu}.Quantile((1 + Level) / 2) }
	for _, tt := range []struct {
		errors    []Error
		low, high float64
	}{
		{nil, .1, 10}, {of(2), .1, 10},
		{of(1, math.Exp(2)), math.Exp(1 - q(1)*math.Sqrt(3)), math.Exp(min(100, 1+q(1)*math.Sqrt(3)))},
		{of(math.Exp(5), math.Exp(5), math.Exp(5)), 1, math.Exp(5)}, {of(math.Exp(-5), math.Exp(-5)), math.Exp(-5), 1},
		{of(1, math.Exp(3), math.Exp(6)), math.Exp(3 - 3*math.Sqrt(4./3)*q(2)), math.Exp(3 + 3*math.Sqrt(4./3)*q(2))},
	} {
		if b := bandOf(tt.errors); !isNear(b.Low, tt.low) || !isNear(b.High, tt.high) || b.Level != Level {
			t.Errorf("%v: from %v to %v, want from %v to %v", tt.errors, b.Low, b.High, tt.low, tt.high)
		}
	}
	c := &Calibration{Errors: append(of(math.Exp(4), math.Exp(4)), Error{Measured: 1e9, Predicted: 1, Precision: "int8"}), Dispatch: 3}
	c.Facts.Excess = 2
	c.bound()
	// Each error is half as far in a long inference, as 3 s are twice as doubtful.
	unsteady := 2 * distuv.UnitNormal.Quantile((1+Level)/2)
	if !isNear(c.High, math.Exp(math.Hypot(2, unsteady))) || !isNear(c.Low, math.Exp(-unsteady)) {
		t.Errorf("from %v to %v", c.Low, c.High)
	}
}

// TestCalibrationLimits checks each number of a calibration at its limits and beyond.
func TestCalibrationLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Calibration)
		good   bool
	}{
		"as it is":          {func(*Calibration) {}, true},
		"no model":          {func(c *Calibration) { c.Models = 0 }, false},
		"a low of none":     {func(c *Calibration) { c.Low = 0 }, true},
		"a negative low":    {func(c *Calibration) { c.Low = -1e-9 }, false},
		"no interval":       {func(c *Calibration) { c.High = c.Low }, true},
		"high below low":    {func(c *Calibration) { c.High = .49 }, false},
		"endless high":      {func(c *Calibration) { c.High = math.Inf(1) }, false},
		"no number":         {func(c *Calibration) { c.High = math.NaN() }, false},
		"the most excess":   {func(c *Calibration) { c.Facts.Excess = 100 }, true},
		"more excess":       {func(c *Calibration) { c.Facts.Excess = 100.1 }, false},
		"less excess":       {func(c *Calibration) { c.Facts.Excess = -.1 }, false},
		"the least scale":   {func(c *Calibration) { c.Scale = 1e-6 }, true},
		"a lesser scale":    {func(c *Calibration) { c.Scale = .9e-6 }, false},
		"the most scale":    {func(c *Calibration) { c.Scale = 1e6 }, true},
		"a greater scale":   {func(c *Calibration) { c.Scale = 1.1e6 }, false},
		"the most to start": {func(c *Calibration) { c.Dispatch, c.Rates[onnx.ClassPool] = 10, Rates{Start: 10, MAC: 10, Byte: 10} }, true},
		"a later dispatch":  {func(c *Calibration) { c.Dispatch = 10.1 }, false},
		"a later start":     {func(c *Calibration) { c.Rates[onnx.ClassPool] = Rates{Start: 10.1} }, false},
		"a negative rate":   {func(c *Calibration) { c.Rates[onnx.ClassPool] = Rates{Byte: -1e-30} }, false},
		"slow sums":         {func(c *Calibration) { c.Rates[onnx.ClassPool] = Rates{MAC: 10.1} }, false},
		"a class missing":   {func(c *Calibration) { delete(c.Rates, onnx.ClassPool) }, false},
		"free convolution":  {func(c *Calibration) { c.Rates[onnx.ClassConv] = Rates{Nodes: 1} }, false},
		"free product":      {func(c *Calibration) { c.Rates[onnx.ClassDense] = Rates{Nodes: 1} }, false},
		"free pool":         {func(c *Calibration) { c.Rates[onnx.ClassPool] = Rates{Nodes: 1} }, true},
		"not measured":      {func(c *Calibration) { c.Rates[onnx.ClassConv] = Rates{} }, true},
		"bad of all cores":  {func(c *Calibration) { c.All = &Calibration{} }, false},
	} {
		c := &Calibration{Models: 1, Low: .5, High: 2, Rates: map[onnx.Class]Rates{}}
		for _, class := range classes {
			c.Rates[class] = Rates{Start: 1, MAC: 1, Byte: 1, Nodes: 1}
		}
		tt.change(c)
		if err := c.Check(); (err == nil) != tt.good || err != nil && !errors.Is(err, ErrCalibration) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOtherDevices checks the differences that make another device, and the doubt of each.
func TestOtherDevices(t *testing.T) {
	f := Facts{Device: "Cortex-A72 board", Processor: "Cortex-A72", Cores: 4, MaxMHz: 1000, UUID: "u"}
	same := device.Device{Model: "Cortex-A72 board", Processor: "Cortex-A72", Cores: 4, MaxMHz: 1000, UUID: "v"}
	for name, tt := range map[string]struct {
		change         func(*device.Device, *Facts)
		away           bool
		factor, spread float64
	}{
		"the same":              {func(*device.Device, *Facts) {}, false, 1, 0},
		"a quarter faster":      {func(d *device.Device, _ *Facts) { d.MaxMHz = 1250 }, false, 1, 0},
		"faster":                {func(d *device.Device, _ *Facts) { d.MaxMHz = 1251 }, true, 1000. / 1251, .35},
		"a fifth slower":        {func(d *device.Device, _ *Facts) { d.MaxMHz = 800 }, false, 1, 0},
		"slower":                {func(d *device.Device, _ *Facts) { d.MaxMHz = 799 }, true, 1000. / 799, .35},
		"an unknown clock":      {func(d *device.Device, _ *Facts) { d.MaxMHz = 0 }, false, 1, 0},
		"fewer cores":           {func(d *device.Device, _ *Facts) { d.Cores = 3 }, true, 1, .35},
		"an unknown core count": {func(d *device.Device, _ *Facts) { d.Cores = 0 }, true, 1, .35},
		"unknown, the same id":  {func(d *device.Device, _ *Facts) { d.Cores, d.UUID = 0, "u" }, false, 1, 0},
		"no model, the same id": {func(d *device.Device, _ *Facts) { d.Model, d.UUID = "", "u" }, false, 1, 0},
		"another board":         {func(d *device.Device, _ *Facts) { d.Model = "other" }, true, 1, .35},
		"another core":          {func(d *device.Device, _ *Facts) { d.Model, d.Processor = "other", "Cortex-A53" }, true, 5.7 / 3.4, .65},
		"one clock":             {func(d *device.Device, _ *Facts) { d.Model, d.Processor, d.MaxMHz = "other", "Cortex-A53", 0 }, true, 5.7 / 3.4, .85},
		"nobody knows":          {func(d *device.Device, _ *Facts) { d.Model, d.Processor = "other", "x" }, true, 1, 2.45},
		"nor its clock":         {func(d *device.Device, _ *Facts) { d.Model, d.Processor, d.MaxMHz = "other", "x", 0 }, true, 1, 3.4},
		"shipped":               {func(_ *device.Device, f *Facts) { f.Shipped = true }, true, 1, .35},
		"wider vectors": {func(d *device.Device, f *Facts) {
			d.Model, f.Device, f.Processor, d.Processor = "xeon", "xeon", "Xeon, AVX2", "Xeon, AVX-512"
		}, true, .5, .65},
		"no vectors named": {func(d *device.Device, f *Facts) {
			d.Model, f.Device, f.Processor, d.Processor = "xeon", "xeon", "Xeon, AVX2", "Xeon"
		}, false, 1, 0},
	} {
		d, g := same, f
		tt.change(&d, &g)
		a := (&Calibration{Facts: g}).Away(&d)
		if (a.Why != "") != tt.away || !isNear(a.Factor, tt.factor) || a.Spread != tt.spread {
			t.Errorf("%s: %+v, want %v, %v", name, a, tt.factor, tt.spread)
		}
	}
	b := Away{Spread: 3}.widen(bandBetween(math.Exp(-4), math.Exp(4)))
	if !isNear(b.Low, math.Exp(-5)) || !isNear(b.High, math.Exp(5)) {
		t.Errorf("%+v", b)
	}
	away := Away{Why: "x", Factor: 2, Spread: 3}
	p := bandBetween(math.Exp(-4), math.Exp(4)).Predict(7)
	p.Level = .5
	if w := away.Widen(p); w.Value != 7 || !isNear(w.Low, 7*math.Exp(-5)) || !isNear(w.High, 7*math.Exp(5)) || w.Level != .5 {
		t.Errorf("%+v", w)
	}
	if w := (Away{Spread: 3}).Widen(p); w != p {
		t.Errorf("at home %+v", w)
	}
	if got, want := away.warning("n", "").Error(), fmt.Sprintf("%v: n is predicted with rates of another machine: x; estimated factor on times: 2, in 9 of 10 cases %.2g to %.2g (edgeprof calibrate measures it)", ErrForeign, 2*math.Exp(-3), 2*math.Exp(3)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
