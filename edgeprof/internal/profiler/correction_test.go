package profiler

import (
	"math"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// What was learnt of kernels is for others of their kind, by the number of models that
// say so, and for no others; those of another precision are another kind.
func TestCorrections(t *testing.T) {
	measured := measurement.Kernel{Kernel: onnx.Kernel{Op: "Conv", Class: onnx.ClassConv, Product: onnx.Product{Window: 9}}}
	whole := measured
	whole.Precision = "int8"
	other := measurement.Kernel{Kernel: onnx.Kernel{Op: "Softmax", Class: onnx.ClassSoftmax}}
	c := &Calibration{}
	for _, model := range []string{"a", "b", "c", "d"} {
		c.Corrections = append(c.Corrections, Correction{kindOf(&measured), model, 2, 1e-3})
	}
	c.index()
	kind := 4 * math.Log(2) / (priorModels + 4)
	for _, tt := range []struct {
		name string
		of   measurement.Kernel
		want float64
	}{
		{"its kind", measured, kind}, {"in int8", whole, 0}, {"another", other, 0},
	} {
		if got := math.Log(c.correction(&tt.of)); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s: a factor of %v, want %v", tt.name, math.Exp(got), math.Exp(tt.want))
		}
	}
}

// What a call takes is told by a model of next to nothing, which is no case itself,
// and is no kernel's.
func TestCall(t *testing.T) {
	row := func(model, family string, seconds float64) measurement.Row {
		return measurement.Row{
			OriginalColumns: measurement.OriginalColumns{ModelName: model, Time: measurement.NewSeconds(seconds)}, Run: measurement.Run{Family: family, Setting: "s"},
		}
	}
	d := &measurement.Data{Rows: []measurement.Row{row(CallModel, Operators, 10e-6), row("m", "vgg", 50e-6)}}
	for i := range 4 {
		seconds := 10e-6
		d.Kernels = append(d.Kernels, measurement.Kernel{ModelName: "m", Setting: "s", Index: i, Kernel: onnx.Kernel{Op: "Conv", Class: onnx.ClassConv, Work: onnx.Work{MACs: 1000}}, Seconds: &seconds})
	}
	cases := Cases(d)
	if len(cases) != 1 || cases[0].Call != 10e-6 || math.Abs(*cases[0].Kernels[0].Seconds-10e-6) > 1e-12 {
		t.Fatalf("%+v", cases)
	}
	c := fit(cases, Facts{})
	if c.Call != 10e-6 || math.Abs(c.idle(cases[0].Kernels)/50e-6-1) > 1e-6 {
		t.Errorf("a call of %v s, in all %v s", c.Call, c.idle(cases[0].Kernels))
	}
}
