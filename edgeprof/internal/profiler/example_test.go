package profiler_test

import (
	"fmt"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// A machine of which a multiply-accumulate takes 0.1 ns and a byte 0.2 ns, and
// the start of a kernel 1 us: what calibrating finds out, and what it predicts.
func Example() {
	var measured []profiler.Case
	for _, family := range []string{"alexnet", "densenet", "googlenet", "mobilenetv2", "resnet", "vgg", "mlp"} {
		for _, width := range []float64{0.25, 0.5, 0.75} {
			m := profiler.Case{Model: family, Family: family, Kernels: measurement.NewKernels(analyse(family, width).Kernels())}
			for i := range m.Kernels {
				k := &m.Kernels[i]
				seconds := 1e-6 + 1e-10*float64(k.MACs) + 2e-10*float64(k.ParameterBytes+k.ReadBytes+k.WrittenBytes)
				k.Seconds = &seconds
				m.Seconds += seconds
			}
			measured = append(measured, m)
		}
	}
	cal, err := profiler.Calibrate(measured, profiler.Facts{UUID: "here"})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := cal.Predict(analyse("resnet", 1), device.Device{Node: "here", UUID: "here", Cores: 4})
	fmt.Printf("%.2f s, %.0f %% of it in %s operators\n", p.Seconds.Value, 100*p.Shares[0].Part, p.Shares[0].Class)
	// Output:
	// 0.20 s, 99 % of it in conv operators
}

func analyse(family string, width float64) *onnx.Analysis {
	m, err := synth.New(family, synth.Size{Width: width})
	if err != nil {
		panic(err)
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		panic(err)
	}
	return a
}
