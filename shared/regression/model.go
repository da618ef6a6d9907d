package regression

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Model predicts a target from a row of features. A fitted model does not change
// and is safe for concurrent use.
type Model interface {
	// Features returns the width of the rows that the model was fitted on.
	Features() int
	// Predict predicts one row. The error matches [ErrDimension] or [ErrNotFinite];
	// NaN features are allowed only if the model's own documentation says so.
	// Predict does not keep x.
	Predict(x []float64) (uncertainty.Prediction, error)
}

// Fitter is a recipe with its settings: it fits a model of its own kind to samples.
//
// Fit neither changes nor keeps the samples. The same samples and settings, the
// seed included, give the same model. A long fit returns ctx's error soon after ctx
// is cancelled.
type Fitter[M Model] interface {
	Fit(ctx context.Context, s Samples) (M, error)
}

// PredictAll predicts every row of s. An error names the row.
func PredictAll(m Model, s Samples) ([]uncertainty.Prediction, error) {
	out := make([]uncertainty.Prediction, s.Len())
	for i := range out {
		p, err := m.Predict(s.Row(i))
		if err != nil {
			return nil, fmt.Errorf("predict row %d: %w", i, err)
		}
		out[i] = p
	}
	return out, nil
}
