package profiler

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/regression"
)

// Validation names what predictions are judged by: what is left out of the training.
type Validation string

// The validations.
const (
	ByFamily Validation = "family" // all models of a family, everywhere
	ByDevice Validation = "device" // all rows of a device
	ByRow    Validation = "row"    // a tenth of the rows, as the original has it: rows of the same model stay
)

// Report holds the results of a cross-validation. What does not exist for the data is nil.
type Report struct {
	Validation Validation `json:"cv"`
	Rows       int        `json:"rows"`
	Dropped    int        `json:"dropped_rows"` // not usable, or without a time
	Models     int        `json:"models"`
	Families   int        `json:"families"`
	Devices    int        `json:"devices"`
	MAE        *float64   `json:"mae"` // seconds
	RMSE       *float64   `json:"rmse"`
	R2         *float64   `json:"r2"`
	MAPE       *float64   `json:"mape"` // a fraction, as all below
	Within5    *float64   `json:"within_5"`
	Within10   *float64   `json:"within_10"`
	Spearman   *float64   `json:"spearman"`
	// Top1 is the share of models whose fastest device was predicted, among those
	// measured on several.
	Top1 *float64 `json:"top1"`
	// Regret is the mean time on the predicted devices over that on the fastest, less 1.
	Regret *float64 `json:"regret"`
}

// Train judges how well such rows predict what is left out of them, by a validation
// (ByFamily if it is ""), and then learns from all of them. The error matches
// [ErrTooFew] or [ErrValidation], or is one of the trees'.
func Train(ctx context.Context, d *measurement.Data, v Validation) (*Model, *Report, error) {
	v = cmp.Or(v, ByFamily)
	byFamily, err := crossPredict(ctx, d.Rows, ByFamily)
	if err != nil && v == ByFamily {
		return nil, nil, err
	}
	asked := byFamily
	if v != ByFamily {
		if asked, err = crossPredict(ctx, d.Rows, v); err != nil {
			return nil, nil, err
		}
	}
	report, err := newReport(d, v, asked)
	if err != nil {
		return nil, nil, err
	}
	m, err := learn(ctx, d.Rows)
	if err != nil {
		return nil, nil, err
	}
	judged := byFamily
	if judged == nil { // too few families: the asked ones must do
		judged = asked
	}
	m.band = bandOf(rowErrors(d.Rows, judged))
	m.Facts = Training{Rows: len(d.Rows), Models: report.Models, Families: report.Families, Devices: report.Devices, Validation: string(v), MAPE: report.MAPE}
	return m, report, nil
}

// crossPredict predicts every row by the rows that a validation leaves in.
func crossPredict(ctx context.Context, rows []measurement.Row, v Validation) ([]float64, error) {
	folds, err := foldsOf(rows, v)
	if err != nil {
		return nil, err
	}
	predicted := make([]float64, len(rows))
	for _, f := range folds {
		train := make([]measurement.Row, len(f.Train))
		for i, r := range f.Train {
			train[i] = rows[r]
		}
		m, err := learn(ctx, train)
		if err != nil {
			return nil, err
		}
		for _, r := range f.Test {
			if predicted[r], err = m.seconds(&rows[r]); err != nil {
				return nil, err
			}
		}
	}
	return predicted, nil
}

// foldsOf deals the rows out.
func foldsOf(rows []measurement.Row, v Validation) ([]regression.Fold, error) {
	groups := make([]string, len(rows))
	switch v {
	case ByRow:
		return regression.RowFolds(len(rows), min(10, len(rows)), 42)
	case ByFamily:
		for i := range rows {
			groups[i] = rows[i].Family
		}
	case ByDevice:
		for i := range rows {
			groups[i] = rows[i].Setting
		}
	default:
		return nil, fmt.Errorf("%w %q: want family, device or row", ErrValidation, v)
	}
	n := countDistinct(groups)
	if n < 2 {
		return nil, fmt.Errorf("%w: %d %s, want 2 or more; to leave out rows instead, use --cv row", ErrTooFew, n, map[Validation]string{ByFamily: "families", ByDevice: "devices"}[v])
	}
	return regression.GroupFolds(groups, n, 1)
}

func countDistinct(names []string) int {
	distinct := map[string]bool{}
	for _, name := range names {
		distinct[name] = true
	}
	return len(distinct)
}

// rowErrors returns the errors of the rows with a time above 0.
func rowErrors(rows []measurement.Row, predicted []float64) []Error {
	var errors []Error
	for i := range rows {
		if measured := rows[i].Time.Value; measured > 0 && predicted[i] > 0 {
			errors = append(errors, Error{Measured: measured, Predicted: predicted[i]})
		}
	}
	return errors
}

// newReport scores predictions of the rows.
func newReport(d *measurement.Data, v Validation, predicted []float64) (*Report, error) {
	actual := make([]float64, len(d.Rows))
	models := make([]string, len(d.Rows))
	families := make([]string, len(d.Rows))
	devices := make([]string, len(d.Rows))
	for i := range d.Rows {
		r := &d.Rows[i]
		actual[i], models[i] = r.Time.Value, r.ModelName
		families[i], devices[i] = r.Family, r.Setting
	}
	m, err := regression.Evaluate(actual, predicted)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Validation: v, Rows: len(d.Rows), Dropped: d.Counts.Dropped + d.Missing,
		Models: countDistinct(models), Families: countDistinct(families), Devices: countDistinct(devices),
		MAE: finite(m.MAE), RMSE: finite(m.RMSE), R2: finite(m.R2), MAPE: finite(m.MAPE),
		Within5: finite(m.Within5), Within10: finite(m.Within10), Spearman: finite(m.Spearman),
	}
	r.scoreChoices(d.Rows, predicted)
	return r, nil
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// sums holds the measured and predicted times of a model on a device.
type sums struct{ measured, predicted, rows float64 }

// scoreChoices scores the device with the smallest mean prediction for each model.
func (r *Report) scoreChoices(rows []measurement.Row, predicted []float64) {
	models := map[string]map[string]sums{}
	for i := range rows {
		devices := models[rows[i].ModelName]
		if devices == nil {
			devices = map[string]sums{}
			models[rows[i].ModelName] = devices
		}
		s := devices[rows[i].Setting]
		devices[rows[i].Setting] = sums{s.measured + rows[i].Time.Value, s.predicted + predicted[i], s.rows + 1}
	}
	hits := 0.0
	regret := 0.0
	n := 0.0
	for _, model := range sortedKeys(models) {
		devices := models[model]
		if len(devices) < 2 {
			continue
		}
		fastest := fastestDevice(devices, func(s sums) float64 { return s.measured / s.rows })
		chosen := fastestDevice(devices, func(s sums) float64 { return s.predicted / s.rows })
		n++
		if chosen == fastest {
			hits++
		}
		regret += devices[chosen].measured/devices[chosen].rows/(devices[fastest].measured/devices[fastest].rows) - 1
	}
	r.Top1, r.Regret = finite(hits/n), finite(regret/n)
}

// fastestDevice returns the device with the smallest time, the first by name of several.
func fastestDevice(devices map[string]sums, time func(sums) float64) string {
	best, shortest := "", math.Inf(1)
	for _, name := range sortedKeys(devices) {
		if t := time(devices[name]); t < shortest {
			best, shortest = name, t
		}
	}
	return best
}

// FewestModels is the number of models whose errors an interval of [Level] needs.
const FewestModels = 19
