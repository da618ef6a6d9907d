package profiler

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Answer is the predicted time of a model in a setting.
type Answer struct {
	Seconds  uncertainty.Prediction
	Method   string // [MethodKernels] or [MethodWhole]
	Warnings []error
}

// PredictRow predicts a row: by the kernels of its model, where these and its
// setting are known, else by its counts. The error is [ErrNoCounts] or one of the
// trees'.
func (m *Model) PredictRow(r *measurement.Row, kernels []measurement.Kernel) (Answer, error) {
	if c := m.setting(r.Setting); c != nil && len(kernels) > 0 {
		v := c.idle(kernels)
		band, warnings := c.interval(kernels, c.kernels(kernels), v)
		return Answer{Seconds: band.Predict(v), Method: MethodKernels, Warnings: warnings}, nil
	}
	if r.ConvLayers == nil && r.PoolLayers == nil && r.FCLayers == nil && r.FilterDetails == nil && r.TotalParameters == nil {
		return Answer{}, ErrNoCounts
	}
	v, err := m.Whole.seconds(r)
	if err != nil {
		return Answer{}, err
	}
	if m.Whole.original != nil {
		return Answer{Seconds: uncertainty.Point(v), Method: MethodWhole, Warnings: []error{ErrNoInterval}}, nil
	}
	a := Answer{Seconds: m.Whole.band.Predict(v), Method: MethodWhole}
	if math.IsNaN(code(m.Whole.settings, r.Setting)) {
		a.Warnings = append(a.Warnings, fmt.Errorf("%w: setting %q was not measured", ErrForeign, r.Setting))
	}
	return a, nil
}

// unlike warns of a time far from those that were measured.
func (c *Calibration) unlike(seconds float64) []error {
	if seconds < c.Shortest/3 || seconds > 3*c.Longest {
		return []error{fmt.Errorf("%w: predicted %.3g s, but the measured models took %.3g to %.3g s", ErrUnlike, seconds, c.Shortest, c.Longest)}
	}
	return nil
}

// Evaluate holds a trained model against measurements, those of operator chains
// left out. It does not hold for models that it was trained on.
func (m *Model) Evaluate(d *measurement.Data) (*Report, error) {
	cases := Cases(d)
	j := &judgement{cases: cases, predicted: map[string][]float64{}}
	for i := range cases {
		c := &cases[i]
		if c.Family == Operators {
			continue
		}
		tests := []test{{i, c.Seconds}}
		if !c.timed() {
			tests = c.rowTests(i)
		}
		for k, t := range tests {
			a, err := m.PredictRow(&c.Rows[k], c.Kernels)
			if err != nil {
				return nil, err
			}
			j.tests = append(j.tests, t)
			for _, method := range []string{MethodKernels, MethodWhole} {
				v := math.NaN()
				if a.Method == method {
					v = a.Seconds.Value
				}
				j.predicted[method] = append(j.predicted[method], v)
			}
		}
	}
	j.drop()
	if len(j.predicted) == 0 {
		return nil, fmt.Errorf("%w: nothing to evaluate", measurement.ErrNoRows)
	}
	return j.report(d, "none")
}
