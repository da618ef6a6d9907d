package placement

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/profiler"
)

// ErrNoDevice is returned when no device is left to rank.
var ErrNoDevice = errors.New("no device to run the model on")

// Candidate is a device with the model's predicted time on it.
type Candidate struct {
	Node    string `json:"node"`
	Class   string `json:"class"`
	Model   string `json:"device_model"`
	UUID    string `json:"node_uuid"`
	Runtime string `json:"runtime"`
	// Seconds is the predicted time of one inference; Low and High bound it.
	Seconds float64  `json:"predicted_execution_time"`
	Low     float64  `json:"low"`
	High    float64  `json:"high"`
	Reasons []string `json:"reasons"`
}

// Ranking is all devices: those that can run the model, the fastest first, and
// those that cannot.
type Ranking struct {
	Candidates []Candidate       `json:"candidates"`
	Excluded   []device.Excluded `json:"excluded"`
	Warnings   []string          `json:"warnings"`
}

// Rank orders devices by the predicted time. Rates returns a device's
// calibration. The error matches [ErrNoDevice], or is one of rates, with the
// device's name.
func Rank(a *onnx.Analysis, devices []device.Device, excluded []device.Excluded, rates func(device.Device) (*profiler.Calibration, error)) (*Ranking, error) {
	counts, err := a.Characteristics()
	if err != nil {
		return nil, err
	}
	r := &Ranking{Candidates: []Candidate{}, Excluded: append([]device.Excluded{}, excluded...), Warnings: []string{}}
	need := counts.ParameterBytes + counts.PeakActivationBytes
	for _, d := range devices {
		if free := d.Load.MemoryAvailableBytes; free > 0 && need > free {
			r.Excluded = append(r.Excluded, device.Excluded{Node: d.Node, Reason: fmt.Sprintf("the model needs %d bytes of memory, %d are free", need, free)})
			continue
		}
		c, err := rates(d)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Node, err)
		}
		r.add(d, c, c.Predict(a, d))
	}
	if len(r.Candidates) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoDevice, reasons(r.Excluded))
	}
	slices.SortFunc(r.Candidates, func(x, y Candidate) int {
		if x.Seconds != y.Seconds {
			if x.Seconds < y.Seconds {
				return -1
			}
			return 1
		}
		return strings.Compare(x.Node, y.Node)
	})
	return r, nil
}

func (r *Ranking) add(d device.Device, cal *profiler.Calibration, p profiler.Prediction) {
	c := Candidate{
		Node: d.Node, Class: d.Class, Model: d.Model, UUID: d.UUID, Runtime: cal.Facts.Runtime,
		Seconds: p.Seconds.Value, Low: p.Seconds.Low, High: p.Seconds.High,
	}
	if len(p.Shares) > 0 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%.0f %% of the time in %s operators", 100*p.Shares[0].Part, p.Shares[0].Class))
	}
	if p.Slowdown > 1 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("slowed %.2f times by a CPU load of %.0f %%", p.Slowdown, d.Load.CPUPercent))
	} else {
		c.Reasons = append(c.Reasons, fmt.Sprintf("a core is free at a CPU load of %.0f %%", d.Load.CPUPercent))
	}
	r.Candidates = append(r.Candidates, c)
	for _, w := range p.Warnings {
		if text := w.Error(); !slices.Contains(r.Warnings, text) {
			r.Warnings = append(r.Warnings, text)
		}
	}
}

func reasons(excluded []device.Excluded) string {
	if len(excluded) == 0 {
		return "the source lists none"
	}
	parts := make([]string, len(excluded))
	for i, e := range excluded {
		parts[i] = e.Node + ": " + e.Reason
	}
	return strings.Join(parts, "; ")
}
