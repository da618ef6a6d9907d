package profiler

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/uncertainty"
	"github.com/foretime/foretime/shared/uncertainty/coveragetest"
)

// TestPlantedCoverage: intervals hold what they promise of families that were not
// measured, on a machine whose law is not theirs.
func TestPlantedCoverage(t *testing.T) { plantedCoverage(t, coveragetest.CheckFew) }

// TestStatisticsPlantedCoverage asks for as many cases as the promise needs.
func TestStatisticsPlantedCoverage(t *testing.T) { plantedCoverage(t, coveragetest.Check) }

func plantedCoverage(t *testing.T, check func(*testing.T, []coveragetest.Predictor)) {
	check(t, []coveragetest.Predictor{{Name: "a machine of another law", Level: Level, Run: plantedCases, Above: 0.02}})
}

// plantedCases are of a machine whose kernels follow a law that no rates can say: a
// power of their work, and what all kernels of a family share; families to come are
// as unlike each other as those that it was calibrated with.
func plantedCases(seed uint64) []uncertainty.Case {
	rng := rand.New(rand.NewPCG(seed, 6))
	cases := make([]Case, 119)
	for i := range cases {
		c := Case{Model: fmt.Sprint(i), Family: fmt.Sprint(i), Setting: "here", Runtime: "go", Threads: 1, Quota: 1}
		shared := 0.8 * skewed(rng)
		for k := range 1 + rng.IntN(3) {
			class := []onnx.Class{onnx.ClassConv, onnx.ClassOther}[rng.IntN(2)]
			work := onnx.Work{MACs: int64(math.Exp(14 + 4*rng.Float64())), WrittenBytes: int64(math.Exp(10 + 3*rng.Float64()))}
			if class == onnx.ClassOther {
				work.MACs = 0
			}
			t := shared * math.Exp(0.1*rng.NormFloat64()) * (2e-6 + 4e-10*math.Pow(float64(work.MACs), 0.93) + 1e-9*float64(work.WrittenBytes))
			c.Seconds += t
			c.Kernels = append(c.Kernels, measurement.Kernel{Index: k, Kernel: onnx.Kernel{Op: string(class), Class: class, Work: work}, Seconds: &t})
		}
		row := measurement.Row{OriginalColumns: measurement.OriginalColumns{Time: measurement.NewSeconds(c.Seconds)}}
		c.Rows = []measurement.Row{row, row} // repeated, with nothing else on the machine
		cases[i] = c
	}
	c, err := (&Model{}).Calibrate(cases[:19], Facts{Runtime: "go", Threads: 1})
	if err != nil {
		panic(err)
	}
	var out []uncertainty.Case
	for _, m := range cases[19:] {
		v := c.idle(m.Kernels)
		out = append(out, uncertainty.Case{Prediction: c.band(v).Predict(v), Actual: m.Seconds})
	}
	return out
}
