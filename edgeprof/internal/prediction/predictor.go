package prediction

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// Predictor predicts times. Many goroutines use it at once.
type Predictor interface {
	// On binds the predictor to devices as they are loaded now. A device that it
	// cannot judge joins the excluded ones.
	On(ctx context.Context, devices []device.Device, excluded []device.Exclusion) Fleet
	// Facts describe the predictor.
	Facts() Facts
}

// Fleet is a predictor bound to devices at one moment.
type Fleet interface {
	// Rank orders the devices for a model whose graph is known. The error
	// matches [placement.ErrNoDevice] or [onnx.ErrGraph].
	Rank(a *onnx.Analysis) (*placement.Ranking, error)
	// Profile orders the devices for a model of which only the counts are
	// known. The error matches [placement.ErrNoDevice].
	Profile(c placement.Counts) (*placement.Ranking, error)
	// Fastest returns Profile's first candidate, without its reasons.
	Fastest(c placement.Counts) (placement.Candidate, error)
	// Warnings returns those of Profile that hold for any device.
	Warnings(c placement.Counts) ([]string, error)
	// Layers returns a model's kernels on the device of a name, with their sum.
	// The error matches [placement.ErrNoDevice] for a device that is not ranked.
	// A predictor that knows no kernels returns none.
	Layers(a *onnx.Analysis, node string) ([]profiler.Layer, profiler.Prediction, error)
}

// Facts describe a predictor and its origin.
type Facts struct {
	Kind    string  `json:"kind"`
	Runtime string  `json:"runtime"`      // of the predicted times
	Device  string  `json:"device_model"` // that was measured
	When    string  `json:"measured_at"`
	Models  int     `json:"models"` // measured
	Level   float64 `json:"interval_level"`
	// Trained describes the training data of a trained model; nil for rates alone.
	Trained *profiler.Training `json:"trained,omitempty"`
}

// Read returns the predictor in the content of a file: a model of train, or the rates of
// calibrate. If a runtime is given, it predicts that one; name is the file's, "" for the
// default. A device's own rates have priority over those in the file.
func Read(ctx context.Context, catalog *Catalog, name string, data []byte, runtime string) (Predictor, error) {
	var header struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(data, &header); err != nil || header.Kind == "" && !profiler.IsXGBoost(data) {
		c, err := catalog.Parse(data)
		if err != nil {
			return nil, err
		}
		settings, err := catalog.settings(name, runtime, c)
		if err != nil {
			return nil, err
		}
		return fitted(ctx, settings, catalog, runtime, nil)
	}
	trained, err := profiler.ReadModel(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if len(trained.Settings) == 0 && runtime == "" { // trained on rows without kernels
		return NewCounts(trained), nil
	}
	of := runtime
	if of == "" {
		of = defaultRuntime(trained.Settings)
	}
	settings, err := withRuntime(trained.Settings, of)
	if err != nil {
		return nil, err
	}
	return fitted(ctx, settings, catalog, runtime, &trained.Facts)
}

// fitted returns a predictor whose law for devices without rates of their own is fitted.
func fitted(ctx context.Context, settings []*profiler.Calibration, catalog *Catalog, runtime string, trained *profiler.Training) (Predictor, error) {
	m := NewCalibrated(settings, catalog, runtime)
	m.Trained = trained
	return m, m.Fit(ctx)
}
