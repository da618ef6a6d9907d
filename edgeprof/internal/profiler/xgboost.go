package profiler

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/regression/tree"
)

// originalColumns are the features of the original profiler's script, in its order.
var originalColumns = rowColumns[:10]

// originalDevices are the codes of the original's script; others are -1.
var originalDevices = []string{"raspberrypi", "jetson"}

// IsXGBoost reports whether a file has the form that XGBoost writes models in.
func IsXGBoost(data []byte) bool {
	var header struct {
		Learner json.RawMessage `json:"learner"`
	}
	return json.Unmarshal(data, &header) == nil && header.Learner != nil
}

// ReadXGBoost reads a model that XGBoost wrote as JSON. Its features are columns of the
// original profiler: by their names, or all ten of the original's script in its order. A
// column "device_raspberrypi" is 1 for such a device and 0 for others. The error matches
// [ErrModel].
func ReadXGBoost(data []byte) (*Model, error) {
	e, err := tree.DecodeModel(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	names := e.Names()
	if len(names) == 0 {
		if e.Features() != len(originalColumns) {
			return nil, fmt.Errorf("%w: it has %d features without names, want the %d columns %q", ErrModel, e.Features(), len(originalColumns), originalColumns)
		}
		names = originalColumns
	}
	for _, name := range names {
		if !slices.Contains(originalColumns, name) && !strings.HasPrefix(name, "device_") {
			return nil, fmt.Errorf("%w: its feature %q is not one of the columns %q", ErrModel, name, originalColumns)
		}
	}
	return &Model{original: names, ensemble: e}, nil
}

// originalFeatures returns a row's values as the original's script prepares them.
func (m *Model) originalFeatures(r *measurement.Row) []float64 {
	v := func(p *float64) float64 { return measurement.ValueOr(p, math.NaN()) }
	values := map[string]float64{
		"conv_layers": v(r.ConvLayers), "device_load_percent": busy(r), "disk_io_read_bytes": v(r.ReadBytes), "disk_io_write_bytes": v(r.WrittenBytes),
		"device_disk_usage_percent": v(r.DiskPercent), "filter_details": v(r.FilterDetails), "fully_conn_layers": v(r.FCLayers),
		"device": float64(slices.Index(originalDevices, r.Device)), "pool_layers": v(r.PoolLayers), "total_parameters": v(r.TotalParameters),
	}
	x := make([]float64, len(m.original))
	for i, name := range m.original {
		value, ok := values[name]
		if kind, one := strings.CutPrefix(name, "device_"); !ok && one {
			value = 0
			if r.Device == kind {
				value = 1
			}
		}
		x[i] = value
	}
	return x
}
