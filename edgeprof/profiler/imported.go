package profiler

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/kernel"
	"github.com/foretime/foretime/edgeprof/measurement"
	"github.com/foretime/foretime/shared/regression/tree"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Imported is a booster of the original profiler, on features under the names of
// its columns. What it was wrong by is not in its file, so its predictions have
// no interval.
type Imported struct {
	ensemble *tree.Ensemble
	columns  []int // in rowColumns; -1 for a device's column of 0 and 1
}

// deviceColumn begins the name of a device's column of 0 and 1.
const deviceColumn = "device_"

// Import takes a booster whose features have the original's names. The error
// matches [ErrModel].
func Import(e *tree.Ensemble) (*Imported, error) {
	m := &Imported{ensemble: e}
	for _, name := range e.Names() {
		at := slices.Index(rowColumns, name)
		if at < 0 && !slices.Contains(deviceCodes, strings.TrimPrefix(name, deviceColumn)) {
			return nil, fmt.Errorf("%w: feature %q is no column of the original profiler", ErrModel, name)
		}
		m.columns = append(m.columns, at)
	}
	if len(m.columns) == 0 {
		return nil, fmt.Errorf("%w: its features have no names", ErrModel)
	}
	return m, nil
}

// PredictRow predicts a row by its counts; kernels play no part. The error is of
// the trees, or [ErrUnlike] for a time that cannot be: the original's trees are
// of seconds, not of their logarithm, and go below 0.
func (m *Imported) PredictRow(r *measurement.Row, _ []kernel.Row) (Answer, error) {
	p, err := m.ensemble.Predict(m.features(r))
	if err != nil {
		return Answer{}, err
	}
	if p.Value <= 0 {
		return Answer{}, fmt.Errorf("%w: the booster says %.3g s", ErrUnlike, p.Value)
	}
	return Answer{Seconds: uncertainty.Point(p.Value), Method: MethodWhole, Warnings: m.foreign(r)}, nil
}

func (m *Imported) features(r *measurement.Row) []float64 {
	all := (&ModelTrees{}).features(nil, r)
	x := make([]float64, len(m.columns))
	for i, at := range m.columns {
		switch {
		case at >= 0:
			x[i] = all[at]
		case m.ensemble.Names()[i] == deviceColumn+r.Device:
			x[i] = 1
		}
	}
	return x
}

// foreign warns of a kind of device that the booster has no column for.
func (m *Imported) foreign(r *measurement.Row) []error {
	if math.IsNaN(code(m.ensemble.Names(), deviceColumn+r.Device)) {
		return []error{fmt.Errorf("%w: %q was not measured", ErrForeign, r.Device)}
	}
	return nil
}
