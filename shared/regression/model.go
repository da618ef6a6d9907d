package regression

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// Model answers what a target will be, from a row of features. A fitted model
// does not change and may be asked from many goroutines.
type Model interface {
	// Features is the width of the rows the model was fitted on.
	Features() int
	// Predict answers for one row. The error matches [ErrDimension] or
	// [ErrNotFinite]; NaN features are allowed only where the model's own
	// documentation says so. Predict does not keep x.
	Predict(x []float64) (Prediction, error)
}

// Fitter is a recipe with its settings: it learns a [Model] from samples.
//
// Fit neither changes nor keeps the samples. The same samples and settings, the
// seed among them, give the same model. A fit that takes long returns ctx's
// error soon after ctx is cancelled.
type Fitter interface {
	Fit(ctx context.Context, s Samples) (Model, error)
}

// Doubtful is implemented by models that can be used but should not be trusted
// without a look: each warning says why.
type Doubtful interface {
	Warnings() []error
}

// Warnings are the warnings of m, or nil when it has none.
func Warnings(m Model) []error {
	if d, ok := m.(Doubtful); ok {
		return d.Warnings()
	}
	return nil
}

// Prediction is an answer and the interval that the truth is expected in. All
// three have the unit of the target. Bounds are infinite where none are known.
type Prediction struct {
	Value float64
	Low   float64
	High  float64
}

// Point is a prediction without a known interval.
func Point(value float64) Prediction {
	return Prediction{Value: value, Low: math.Inf(-1), High: math.Inf(1)}
}

// Bounded reports whether both ends of the interval are known.
func (p Prediction) Bounded() bool { return finite(p.Low) && finite(p.High) }

// Covers reports whether the interval holds v.
func (p Prediction) Covers(v float64) bool { return p.Low <= v && v <= p.High }

// predictionJSON is the wire form of a Prediction: an unknown bound is null.
type predictionJSON struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// MarshalJSON writes {"value":v,"low":l,"high":h}; an unknown bound is null.
func (p Prediction) MarshalJSON() ([]byte, error) {
	return json.Marshal(predictionJSON{Value: p.Value, Low: known(p.Low), High: known(p.High)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Prediction) UnmarshalJSON(b []byte) error {
	var w predictionJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("prediction: %w", err)
	}
	*p = Point(w.Value)
	if w.Low != nil {
		p.Low = *w.Low
	}
	if w.High != nil {
		p.High = *w.High
	}
	return nil
}

// known is a pointer to v, or nil where v is not finite: JSON has no infinity.
func known(v float64) *float64 {
	if !finite(v) {
		return nil
	}
	return &v
}

// PredictAll asks m for every row of s. An error names the row.
func PredictAll(m Model, s Samples) ([]Prediction, error) {
	out := make([]Prediction, s.Len())
	for i := range out {
		p, err := m.Predict(s.Row(i))
		if err != nil {
			return nil, fmt.Errorf("predict row %d: %w", i, err)
		}
		out[i] = p
	}
	return out, nil
}

// Values are the values of the predictions, without their intervals.
func Values(ps []Prediction) []float64 {
	out := make([]float64, len(ps))
	for i, p := range ps {
		out[i] = p.Value
	}
	return out
}
