package profiler

import (
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// rounded is the factor by which models that multiply in another precision than the rates'
// float32 took longer or shorter when they were tried: 0.72 to 2.97. roundedMeasured is the
// same with rates of that precision; it is not measured.
const (
	rounded         = 3
	roundedMeasured = 1.6
)

// roundedBy returns the doubt about kernels in another precision, the logarithm of a
// factor, and whether rates of that precision decide it. Seconds are those of each kernel.
func (c *Calibration) roundedBy(kernels []measurement.Kernel, seconds []float64) (log float64, measured bool) {
	known, other := 0.0, 0.0
	for i := range kernels {
		switch k := &kernels[i]; {
		case k.Precision == "":
		case (k.Class == onnx.ClassConv8 || k.Class == onnx.ClassDense8) && c.Rates[k.Class].Nodes > 0:
			known += seconds[i]
		default:
			other += seconds[i]
		}
	}
	part := other / max(least, known+other)
	return part*math.Log(rounded) + (1-part)*math.Log(roundedMeasured), part < 0.5
}

// precisionOf names the types other than float32 in which kernels multiply; "" for none.
func precisionOf(kernels []measurement.Kernel) string {
	var types []string
	for i := range kernels {
		if p := kernels[i].Precision; p != "" && !slices.Contains(types, p) {
			types = append(types, p)
		}
	}
	slices.Sort(types)
	return strings.Join(types, ", ")
}
