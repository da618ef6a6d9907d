package profiler

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/uncertainty"
)

// PredictRow predicts a row by its counts, and returns warnings with the time. The error is
// [ErrNoCounts], [ErrNegative] or one of the trees'.
func (m *Model) PredictRow(r *measurement.Row) (uncertainty.Prediction, []error, error) {
	if r.ConvLayers == nil && r.PoolLayers == nil && r.FCLayers == nil && r.FilterDetails == nil && r.TotalParameters == nil {
		return uncertainty.Prediction{}, nil, ErrNoCounts
	}
	v, err := m.seconds(r)
	if err != nil {
		return uncertainty.Prediction{}, nil, err
	}
	if m.original != nil {
		return uncertainty.Point(v), []error{ErrNoInterval}, nil
	}
	var warnings []error
	if math.IsNaN(code(m.settings, r.Setting)) {
		warnings = append(warnings, fmt.Errorf("%w: setting %q was not measured", ErrForeign, r.Setting))
	}
	return m.band.Predict(v), warnings, nil
}
