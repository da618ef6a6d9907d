package profiler

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
)

// rowColumns holds the features of a whole model in a setting: those of the original profiler
// first, then those of its shapes and of the way it is run.
var rowColumns = []string{
	"conv_layers", "device_load_percent", "disk_io_read_bytes", "disk_io_write_bytes", "device_disk_usage_percent", "filter_details", "fully_conn_layers", "device", "pool_layers", "total_parameters",
	"conv_macs", "depthwise_macs", "dense_macs", "recurrent_macs", "parameter_bytes", "activation_bytes", "peak_activation_bytes", "nodes", "fused_nodes", "depth",
	"setting", "threads",
}

// deviceCodes are the original training's, desktop apart from raspberrypi.
var deviceCodes = []string{"raspberrypi", "jetson", "desktop"}

// code returns the position of a name in a list; NaN if it is not there.
func code(list []string, name string) float64 {
	if i := slices.Index(list, name); i >= 0 {
		return float64(i)
	}
	return math.NaN()
}

// busy returns the load of a row in percent of the machine: the original training
// takes 0 stressed cores for all four of its devices'.
func busy(r *measurement.Row) float64 {
	if r.LoadPercent == nil {
		return math.NaN()
	}
	cores := measurement.ValueOr(r.Cores, 4)
	stressed := measurement.ValueOr(r.StressCores, cores)
	if stressed == 0 {
		stressed = cores
	}
	return *r.LoadPercent * min(1, stressed/cores)
}

func (m *Model) features(x []float64, r *measurement.Row) []float64 {
	v := func(p *float64) float64 { return measurement.ValueOr(p, math.NaN()) }
	disk := v(r.DiskPercent)
	if r.Threads != nil {
		disk = math.NaN() // the disk plays no part in an inference measured here
	}
	return append(x,
		v(r.ConvLayers), busy(r), v(r.ReadBytes), v(r.WrittenBytes), disk, v(r.FilterDetails), v(r.FCLayers), code(deviceCodes, r.Device), v(r.PoolLayers), v(r.TotalParameters),
		v(r.ConvMACs), v(r.DepthwiseMACs), v(r.DenseMACs), v(r.RecurrentMACs), v(r.ParameterBytes), v(r.Activations), v(r.PeakBytes), v(r.Nodes), v(r.FusedNodes), v(r.Depth),
		code(m.settings, r.Setting), v(r.Threads),
	)
}

// learn fits trees to rows that have a time above 0.
func learn(ctx context.Context, rows []measurement.Row) (*Model, error) {
	m := &Model{}
	for i := range rows {
		if !slices.Contains(m.settings, rows[i].Setting) {
			m.settings = append(m.settings, rows[i].Setting)
		}
	}
	slices.Sort(m.settings)
	m.settings = m.settings[:min(len(m.settings), 250)] // codes that trees can distinguish
	s := regression.Samples{Features: len(rowColumns)}
	for i := range rows {
		if rows[i].Time.Value > 0 {
			s.X = m.features(s.X, &rows[i])
			s.Y = append(s.Y, rows[i].Time.Value)
		}
	}
	if s.Len() == 0 {
		return nil, fmt.Errorf("%w: only %d rows have a time above 0", ErrTooFew, s.Len())
	}
	if s.Len() == 1 { // trees want two
		s.X, s.Y = append(s.X, s.X...), append(s.Y, s.Y...)
	}
	categorical := make([]bool, len(rowColumns))
	for i, name := range rowColumns {
		categorical[i] = name == "device" || name == "setting"
	}
	var err error
	// the size of the original's XGBoost
	boost := tree.Boost{Rounds: 145, Eta: 0.1, MaxDepth: 6, LogTarget: true, Categorical: categorical, Seed: 1}
	if m.ensemble, err = boost.Fit(ctx, s); err != nil {
		return nil, err
	}
	return m, m.ensemble.SetNames(rowColumns)
}

// seconds predicts one row.
func (m *Model) seconds(r *measurement.Row) (float64, error) {
	if m.original != nil {
		p, err := m.ensemble.Predict(m.originalFeatures(r))
		if err == nil && !(p.Value > 0) {
			err = fmt.Errorf("%w: %g s", ErrNegative, p.Value)
		}
		return p.Value, err
	}
	p, err := m.ensemble.Predict(m.features(nil, r))
	return p.Value, err
}
