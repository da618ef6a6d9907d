package profiler

import (
	"maps"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/measurement"
)

// rounded is how many times longer or shorter products in another precision than
// float32, of which rates are, took in models that were tried: 0.72 to 2.97.
const rounded = 3

// roundedSpread is the doubt of another precision, as a logarithm.
var roundedSpread = math.Log(rounded)

// precisions are the types other than float32 in which kernels multiply, but for
// kinds of kernels that were measured in the user's own models. Which of them a
// processor is good at, its float32 does not show.
func (c *Calibration) precisions(kernels []measurement.Kernel) []string {
	found := map[string]bool{}
	for i := range kernels {
		k := &kernels[i]
		if _, measured := c.kinds[kindOf(k)]; k.Precision != "" && !measured {
			found[k.Precision] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
