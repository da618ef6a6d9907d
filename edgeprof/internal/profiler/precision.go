package profiler

import (
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/uncertainty"
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

// inPrecision returns the interval of a model in another precision than float32, from the
// interval of float32 and the doubt of [Calibration.roundedBy]: which precisions a processor is
// good at, its float32 does not show.
func inPrecision(doubt float64, band uncertainty.Band) uncertainty.Band {
	return bandBetween(math.Exp(-math.Hypot(math.Log(band.Low), doubt)), math.Exp(math.Hypot(math.Log(band.High), doubt)))
}
