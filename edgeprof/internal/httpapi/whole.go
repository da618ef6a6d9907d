package httpapi

import (
	"context"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// Whole is a [Model] of counts of whole models alone, as rows of the original
// collector have them. The device's kind, its load and the use of its disk take
// part.
type Whole struct{ trained *profiler.Model }

var _ Model = Whole{}

// NewWhole takes a trained model without measurements of kernels.
func NewWhole(m *profiler.Model) Whole {
	return Whole{m}
}

// Facts are the training's.
func (m Whole) Facts() Facts {
	return Facts{Kind: "a trained model of counts", Models: m.trained.Facts.Models, Level: profiler.Level, Trained: &m.trained.Facts}
}

// On binds the model to devices.
func (m Whole) On(_ context.Context, devices []device.Device, excluded []device.Excluded) (Fleet, error) {
	return wholeFleet{m.trained, devices, excluded}, nil
}

type wholeFleet struct {
	trained  *profiler.Model
	devices  []device.Device
	excluded []device.Excluded
}

// Rank goes by the counts of the graph.
func (f wholeFleet) Rank(a *onnx.Analysis) (*placement.Ranking, error) {
	c, err := placement.CountsOf(a)
	if err != nil {
		return nil, err
	}
	return f.Profile(c)
}

// Profile predicts each device's row.
func (f wholeFleet) Profile(c placement.Counts) (*placement.Ranking, error) {
	return placement.Rank(f.devices, f.excluded, f.estimate(c))
}

// Fastest is the first of Profile's candidates.
func (f wholeFleet) Fastest(c placement.Counts) (placement.Candidate, error) {
	return placement.Fastest(f.devices, f.excluded, f.estimate(c))
}

// Warnings are those of the ranking.
func (f wholeFleet) Warnings(c placement.Counts) ([]string, error) {
	r, err := f.Profile(c)
	if err != nil {
		return nil, err
	}
	return r.Warnings, nil
}

// Layers are not known.
func (f wholeFleet) Layers(*onnx.Analysis, string) []profiler.Layer { return nil }

func (f wholeFleet) estimate(c placement.Counts) placement.Estimator {
	return func(i int) (placement.Estimate, error) {
		row := rowOf(c, &f.devices[i]).Completed()
		a, err := f.trained.PredictRow(&row, nil)
		if err != nil {
			return placement.Estimate{}, err
		}
		return placement.Estimate{Seconds: a.Seconds, Reasons: []string{"as " + row.Device + " was measured, by counts, load and disk"}, Warnings: a.Warnings}, nil
	}
}

// rowOf is what the original collector would write of a model on a device.
func rowOf(c placement.Counts, d *device.Device) measurement.Row {
	number := func(v uint64) *float64 { return measurement.Number(float64(v)) }
	return measurement.Row{Original: measurement.Original{
		ConvLayers: number(c.ConvLayers), PoolLayers: number(c.PoolLayers), FCLayers: number(c.FCLayers), FilterDetails: number(c.FilterDetails),
		TotalParameters: number(c.TotalParameters), ReadBytes: number(c.ModelInputSize), WrittenBytes: number(c.ModelOutputSize),
		LoadPercent: measurement.Number(d.Load.CPUPercent), DiskPercent: measurement.Number(d.Load.DiskPercent), Device: kindOf(d.Model),
	}}
}

// kindOf is a device's kind as the original collector names them.
func kindOf(model string) string {
	switch {
	case strings.Contains(model, "Raspberry"):
		return "raspberrypi"
	case strings.Contains(model, "Jetson"):
		return "jetson"
	}
	return "desktop"
}
