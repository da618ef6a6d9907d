package prediction

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

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
	// Layers returns a model's kernels on the device of a name, with their sum.
	// The error matches [placement.ErrNoDevice] for a device that is not ranked.
	// A predictor that knows no kernels returns none.
	Layers(a *onnx.Analysis, node string) ([]profiler.Layer, profiler.Prediction, error)
}

// Facts describe a predictor and its origin.
type Facts struct {
	Kind   string  `json:"kind"`
	Device string  `json:"device_model"` // that was measured
	When   string  `json:"measured_at"`
	Models int     `json:"models"` // measured
	Level  float64 `json:"interval_level"`
	// Trained describes the training data of a trained model; nil for rates.
	Trained *profiler.Training `json:"trained,omitempty"`
}

// Read returns the predictor in the content of a file: a model of train, or the rates of
// calibrate, over which a device's own rates have priority. Name is the file's, "" for the
// default.
func Read(ctx context.Context, catalog *Catalog, name string, data []byte) (Predictor, error) {
	var header struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(data, &header); err != nil || header.Kind == "" && !profiler.IsXGBoost(data) {
		rates, err := catalog.Rates(name)
		if err != nil {
			return nil, err
		}
		m := NewCalibrated(rates, catalog)
		return m, m.Fit(ctx)
	}
	trained, err := profiler.ReadModel(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(name, catalog.Default), err)
	}
	return NewCounts(trained), nil
}
