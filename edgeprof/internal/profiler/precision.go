package profiler

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/uncertainty"
)

// rounded is how many times longer or shorter models that multiply in another precision
// than float32, of which rates are, took in models that were tried: 0.72 to 2.97.
const rounded = 3

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

// inPrecision is the interval of a model in another precision than float32, whose
// interval is given, and how many of the user's own models were measured in it. Which
// precisions a processor is good at, its float32 does not show: what is known without
// such models counts as one more of them, which was off by that interval and [rounded].
func (c *Calibration) inPrecision(precision string, band uncertainty.Band, seconds float64) (uncertainty.Band, int) {
	usual := distuv.UnitNormal.Quantile((1+Level)/2) * c.doubt(seconds)
	squares, n := 0.0, 0.0
	for _, e := range c.Errors {
		if e.Precision == precision {
			squares += math.Pow(usual*math.Log(e.Ratio())/c.doubt(e.Predicted), 2)
			n++
		}
	}
	half := func(log float64) float64 {
		return math.Sqrt((log*log + math.Pow(math.Log(rounded), 2) + squares) / (1 + n))
	}
	return bandBetween(math.Exp(-half(math.Log(band.Low))), math.Exp(half(math.Log(band.High)))), int(n)
}
