package prediction

import (
	"context"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// Counts is a [Predictor] of counts of whole models alone, as rows of the original
// collector contain them. It uses the device's kind, its load and the usage of its disk.
type Counts struct{ trained *profiler.Model }

var _ Predictor = Counts{}

// NewCounts returns the predictor of a trained model.
func NewCounts(m *profiler.Model) Counts { return Counts{m} }

// Facts returns those of the training.
func (m Counts) Facts() Facts {
	return Facts{Kind: "a trained model of counts", Models: m.trained.Facts.Models, Level: profiler.Level, Trained: &m.trained.Facts}
}

// On binds the model to devices.
func (m Counts) On(_ context.Context, devices []device.Device, excluded []device.Exclusion) Fleet {
	return countsFleet{m.trained, devices, excluded}
}

type countsFleet struct {
	trained  *profiler.Model
	devices  []device.Device
	excluded []device.Exclusion
}

// Rank uses the counts of the graph.
func (f countsFleet) Rank(a *onnx.Analysis) (*placement.Ranking, error) {
	c, err := placement.NewCounts(a)
	if err != nil {
		return nil, err
	}
	return f.Profile(c)
}

// Profile predicts each device's row.
func (f countsFleet) Profile(c placement.Counts) (*placement.Ranking, error) {
	return placement.Rank(f.devices, f.excluded, f.estimate(c))
}

// Fastest returns the first of Profile's candidates.
func (f countsFleet) Fastest(c placement.Counts) (placement.Candidate, error) {
	return placement.FindFastest(f.devices, f.excluded, f.estimate(c))
}

// Layers returns none: counts do not tell them.
func (f countsFleet) Layers(*onnx.Analysis, string) ([]profiler.Layer, profiler.Prediction, error) {
	return nil, profiler.Prediction{}, nil
}

func (f countsFleet) estimate(c placement.Counts) placement.Estimator {
	return func(i int) (placement.Estimate, error) {
		row := rowOf(c, &f.devices[i]).WithSetting()
		seconds, warnings, err := f.trained.PredictRow(&row)
		if err != nil {
			return placement.Estimate{}, err
		}
		return placement.Estimate{Seconds: seconds, Bytes: c.MemoryBytes(), Reasons: []string{"as " + row.Device + " was measured, by counts, load and disk"}, Warnings: warnings}, nil
	}
}

// rowOf returns the row that the original collector would write for a model on a device.
func rowOf(c placement.Counts, d *device.Device) measurement.Row {
	number := func(v uint64) *float64 { return measurement.NumberCell(float64(v)) }
	return measurement.Row{OriginalColumns: measurement.OriginalColumns{
		ConvLayers: number(c.ConvLayers), PoolLayers: number(c.PoolLayers), FCLayers: number(c.FCLayers), FilterDetails: number(c.FilterDetails),
		TotalParameters: number(c.TotalParameters), ReadBytes: number(c.ModelInputSize), WrittenBytes: number(c.ModelOutputSize),
		LoadPercent: measurement.NumberCell(d.Load.CPUPercent), DiskPercent: d.Load.DiskPercent, Device: kindOf(d.Model),
	}}
}

// kindOf returns a device's kind by the names of the original collector.
func kindOf(model string) string {
	switch {
	case strings.Contains(model, "Raspberry"):
		return "raspberrypi"
	case strings.Contains(model, "Jetson"):
		return "jetson"
	}
	return "desktop"
}
