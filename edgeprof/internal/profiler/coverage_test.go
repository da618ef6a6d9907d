package profiler

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/uncertainty"
	"github.com/foretime/foretime/shared/uncertainty/coveragetest"
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
		{Name: "trained, kernel by kernel", Level: Level, Run: kernelCases, Above: 0.02},
		{Name: "trained, whole models", Level: Level, Run: wholeCases, Above: 0.02},
		{Name: "of five errors", Level: Level, Run: fewCases, Above: 0.02},
	})
}

// bare is a machine on which everything takes its multiply-accumulates.
func bare() *Calibration {
	c := &Calibration{Facts: Facts{Setting: "here", Runtime: "go", UUID: "here"}, Rates: map[onnx.Class]Rates{}, Longest: 1}
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

// judged is a model bounded by a judgement of 59 measurements, all of a
// predicted millisecond, by one method or the other.
func judged(rng *rand.Rand) *Model {
	m := &Model{Settings: []*Calibration{bare()}, Whole: &ModelTrees{settings: []string{"here"}}}
	j := &judgement{predicted: map[string][]float64{}}
	for i := range 59 {
		j.cases = append(j.cases, Case{Model: fmt.Sprint(i), Family: fmt.Sprint(i), Setting: "here"})
		j.tests = append(j.tests, test{of: i, actual: 1e-3 * skewed(rng)})
		for _, method := range []string{MethodKernels, MethodWhole} {
			j.predicted[method] = append(j.predicted[method], 1e-3)
		}
	}
	m.bound(j)
	return m
}

func kernelCases(seed uint64) []uncertainty.Case {
	rng := rand.New(rand.NewPCG(seed, 4))
	m := judged(rng)
	cases := make([]uncertainty.Case, 100)
	for i := range cases {
		a, err := m.PredictRow(&measurement.Row{Run: measurement.Run{Setting: "here"}}, []measurement.Kernel{{Kernel: onnx.Kernel{Class: onnx.ClassConv, Work: onnx.Work{MACs: 1e6}}}})
		if err != nil {
			panic(err)
		}
		cases[i] = uncertainty.Case{Prediction: a.Seconds, Actual: a.Seconds.Value * skewed(rng)}
	}
	return cases
}

func wholeCases(seed uint64) []uncertainty.Case {
	rng := rand.New(rand.NewPCG(seed, 5))
	m := judged(rng)
	cases := make([]uncertainty.Case, 100)
	for i := range cases {
		p := m.Whole.band.Predict(1e-3)
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
