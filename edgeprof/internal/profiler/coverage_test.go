package profiler

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/testkit/coveragetest"
	"github.com/foretime/foretime/shared/uncertainty"
)

// skewed is measured over predicted time as it might be: never far below, at
// times far above.
func skewed(rng *rand.Rand) float64 {
	return math.Exp(0.2*rng.NormFloat64() + 0.3*rng.ExpFloat64() - 0.3)
}

// TestCoverage: intervals hold what they promise where errors to come are like
// those they were made from.
func TestCoverage(t *testing.T) { coverage(t, coveragetest.CheckFew) }

// TestStatisticsCoverage asks for as many cases as the promise needs.
func TestStatisticsCoverage(t *testing.T) { coverage(t, coveragetest.Check) }

func coverage(t *testing.T, check func(*testing.T, []coveragetest.Predictor)) {
	check(t, []coveragetest.Predictor{
		{Name: "calibration", Level: Level, Run: calibrationCases, Above: 0.02},
		{Name: "trained", Level: Level, Run: trainedCases, Above: 0.02},
		{Name: "of five errors", Level: Level, Run: fewCases, Above: 0.02},
	})
}

// bare is a machine on which everything takes its multiply-accumulates.
func bare() *Calibration {
	c := &Calibration{Facts: Facts{Setting: "here", UUID: "here"}, Rates: map[onnx.Class]Rates{}, Longest: 1}
	for _, class := range classes {
		c.Rates[class] = Rates{MAC: 1e-9, Nodes: 1}
	}
	return c
}

func calibrationCases(seed uint64) []uncertainty.Case {
	rng := rand.New(rand.NewPCG(seed, 3))
	c := bare()
	for range 59 {
		c.Errors = append(c.Errors, Error{Predicted: 1e-3, Measured: 1e-3 * skewed(rng)})
	}
	c.bound()
	cases := make([]uncertainty.Case, 100)
	for i := range cases {
		model := &onnx.Analysis{Costs: []onnx.Cost{{Class: onnx.ClassConv, Work: onnx.Work{MACs: int64(1+rng.IntN(9)) * 1e6}}}}
		p := c.Predict(model, device.Device{UUID: "here", Cores: 4})
		cases[i] = uncertainty.Case{Prediction: p.Seconds, Actual: p.Idle * skewed(rng)}
	}
	return cases
}

func trainedCases(seed uint64) []uncertainty.Case {
	rng := rand.New(rand.NewPCG(seed, 5))
	rows, predicted := make([]measurement.Row, 59), make([]float64, 59)
	for i := range rows {
		rows[i].Time, predicted[i] = measurement.NewSeconds(1e-3*skewed(rng)), 1e-3
	}
	p := bandOf(rowErrors(rows, predicted)).Predict(1e-3)
	cases := make([]uncertainty.Case, 100)
	for i := range cases {
		cases[i] = uncertainty.Case{Prediction: p, Actual: p.Value * skewed(rng)}
	}
	return cases
}

func fewCases(seed uint64) []uncertainty.Case {
	rng := rand.New(rand.NewPCG(seed, 6))
	factor := func() float64 { return math.Exp(0.3 * rng.NormFloat64()) }
	cases := make([]uncertainty.Case, 100)
	for i := range cases {
		var errors []Error
		for range 5 {
			errors = append(errors, Error{Predicted: 1, Measured: factor()})
		}
		cases[i] = uncertainty.Case{Prediction: bandOf(errors).Predict(1), Actual: factor()}
	}
	return cases
}
