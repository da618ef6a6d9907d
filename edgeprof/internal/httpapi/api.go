package httpapi

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
)

//go:embed openapi.json
var openAPI []byte

// send writes an answer as JSON.
func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a client that is gone
}

// getHealth says that the process lives.
func (s *Service) getHealth(http.ResponseWriter, *http.Request) (any, error) {
	return map[string]string{"status": "ok"}, nil
}

// getReady says whether a request would be answered.
func (s *Service) getReady(_ http.ResponseWriter, r *http.Request) (any, error) {
	if s.draining.Load() {
		return nil, problem(http.StatusServiceUnavailable, "draining", "the service is shutting down")
	}
	b, err := s.fleet(r.Context())
	if err != nil {
		return nil, err
	}
	return map[string]any{"status": "ready", "devices": len(b.reading.Devices), "model_sha256": b.model.SHA256}, nil
}

// getDevices lists devices and those that are left out, with their load.
func (s *Service) getDevices(_ http.ResponseWriter, r *http.Request) (any, error) {
	b, err := s.fleet(r.Context())
	if err != nil {
		return nil, err
	}
	return struct {
		ReadAt   time.Time          `json:"read_at"`
		Devices  []device.Device    `json:"devices"`
		Excluded []device.Exclusion `json:"excluded"`
	}{b.reading.Time.UTC(), append([]device.Device{}, b.reading.Devices...), append([]device.Exclusion{}, b.reading.Excluded...)}, nil
}

// getModel says which model predicts.
func (s *Service) getModel(http.ResponseWriter, *http.Request) (any, error) {
	l := s.model.Load()
	return struct {
		prediction.Facts
		SHA256 string `json:"sha256"`
		Path   string `json:"path,omitempty"`
	}{l.Model.Facts(), l.SHA256, l.Path}, nil
}

// postModels counts what a model is made of.
func (s *Service) postModels(w http.ResponseWriter, r *http.Request) (any, error) {
	u, err := s.upload(w, r)
	if err != nil {
		return nil, err
	}
	defer u.close()
	c, err := u.analysis.Characteristics()
	if err != nil {
		return nil, err
	}
	return counted{c, onnx.WarningTexts(c.Warnings)}, nil
}

// counted holds the counts of a model, as they are sent.
type counted struct {
	*onnx.Characteristics
	Warnings []string `json:"warnings"`
}
