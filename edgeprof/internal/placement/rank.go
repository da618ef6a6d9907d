package placement

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrNoDevice is returned when no device is left to rank.
var ErrNoDevice = errors.New("no device can run the model")

// Candidate is a device with the model's predicted time on it.
type Candidate struct {
	Node  string `json:"node"`
	Class string `json:"class"`
	Model string `json:"device_model"`
	UUID  string `json:"node_uuid"`
	// Threads is the number of threads of the inference; 0 is unknown.
	Threads int `json:"threads,omitempty"`
	// Wait is the time of the models that were placed there before, in seconds.
	Wait    float64  `json:"wait_seconds,omitempty"`
	Reasons []string `json:"reasons"`
	// Width is the factor by which earlier outcomes widened the interval; 0 is none.
	Width float64 `json:"width_factor,omitempty"`
	// CPUPercent is the load that the time allows for. Saturated reports whether no core is
	// free: how long a thread waits for one changes from moment to moment.
	CPUPercent float64 `json:"cpu_percent"`
	Saturated  bool    `json:"saturated,omitempty"`
	// Seconds of one inference; its members are also written as
	// predicted_execution_time, low, high and level.
	Seconds uncertainty.Prediction `json:"seconds"`

	need, free int64 // bytes of memory; 0 for unknown
}

// plain is a Candidate without its methods.
type plain Candidate

// candidateJSON is a Candidate as JSON.
type candidateJSON struct {
	*plain
	Value float64  `json:"predicted_execution_time"`
	Low   *float64 `json:"low"`  // null if it is unknown
	High  *float64 `json:"high"` // null if it is unknown
	Level float64  `json:"level"`
}

// MarshalJSON writes the time in addition to the rest.
func (c Candidate) MarshalJSON() ([]byte, error) {
	p := c.Seconds
	w := candidateJSON{plain: (*plain)(&c), Value: p.Value, Level: p.Level}
	if !math.IsInf(p.Low, 0) {
		w.Low = &p.Low
	}
	if !math.IsInf(p.High, 0) {
		w.High = &p.High
	}
	return json.Marshal(w)
}

// JSONForm returns a value of the form that MarshalJSON writes, without the parts of the time.
func (Candidate) JSONForm() any { return plain{} }

// Ranking is all devices: those that can run the model, the fastest first, and
// those that cannot.
type Ranking struct {
	Candidates []Candidate        `json:"candidates"`
	Excluded   []device.Exclusion `json:"excluded"`
	Warnings   []string           `json:"warnings"`
}

// Estimate is a model's time on one device.
type Estimate struct {
	Seconds  uncertainty.Prediction
	Threads  int   // of the inference; 0 for unknown
	Bytes    int64 // of memory that the model needs; 0 for unknown
	Reasons  []string
	Warnings []error
}

// Estimator predicts the time of a model on the device of an index. An error
// excludes that device.
type Estimator func(i int) (Estimate, error)

// Rank orders devices by their estimates. A device whose free memory is known and too little for
// the model is excluded. The error matches [ErrNoDevice].
func Rank(devices []device.Device, excluded []device.Exclusion, estimate Estimator) (*Ranking, error) {
	r := &Ranking{Candidates: []Candidate{}, Excluded: append([]device.Exclusion{}, excluded...), Warnings: []string{}}
	for i := range devices {
		e, err := estimate(i)
		if err == nil {
			err = device.CheckMemory(e.Bytes, devices[i].Load.MemoryAvailableBytes)
		}
		if err != nil {
			r.Excluded = append(r.Excluded, device.Exclusion{Node: devices[i].Node, Reason: err.Error()})
			continue
		}
		r.Candidates = append(r.Candidates, candidate(&devices[i], &e))
		r.warn(e.Warnings)
	}
	if len(r.Candidates) == 0 {
		return nil, none(r.Excluded)
	}
	slices.SortFunc(r.Candidates, order)
	return r, nil
}

// FindFastest returns the first of [Rank]'s candidates.
func FindFastest(devices []device.Device, excluded []device.Exclusion, estimate Estimator) (Candidate, error) {
	r, err := Rank(devices, excluded, estimate)
	if err != nil {
		return Candidate{}, err
	}
	return r.Candidates[0], nil
}

func candidate(d *device.Device, e *Estimate) Candidate {
	return Candidate{
		Node: d.Node, Class: d.Class, Model: d.Model, UUID: d.UUID, Seconds: e.Seconds, Threads: e.Threads, Reasons: e.Reasons,
		CPUPercent: d.Load.CPUPercent, Saturated: d.Load.IsSaturated(d.Cores), need: e.Bytes, free: d.Load.MemoryAvailableBytes,
	}
}

// FinishTime returns the end of the model's first inference, after those placed before it, in
// seconds.
func (c *Candidate) FinishTime() float64 { return c.Wait + c.Seconds.Value }

// order compares by time, then by name. A time that is only known to be above something comes
// last.
func order(x, y Candidate) int {
	open := func(c Candidate) int {
		if c.Seconds.Low > 0 && math.IsInf(c.Seconds.High, 1) {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(open(x), open(y)), cmp.Compare(x.FinishTime(), y.FinishTime()), strings.Compare(x.Node, y.Node))
}

// Ties numbers the candidates from 1. A candidate whose interval overlaps that of the
// first one of a number has the same number: their order is within the doubt. Times
// without an interval tie with none.
func (r *Ranking) Ties() []int {
	places, first := make([]int, len(r.Candidates)), 0
	for i := range r.Candidates {
		c, best := &r.Candidates[i], &r.Candidates[first]
		if !(c.Seconds.IsBounded() && best.Seconds.IsBounded() && c.Wait+c.Seconds.Low <= best.Wait+best.Seconds.High) {
			first = i
		}
		places[i] = first + 1
	}
	return places
}

// warn adds each warning once.
func (r *Ranking) warn(warnings []error) {
	for _, w := range warnings {
		if text := w.Error(); !slices.Contains(r.Warnings, text) {
			r.Warnings = append(r.Warnings, text)
		}
	}
}

// none returns the error of a ranking without devices.
func none(excluded []device.Exclusion) error {
	if len(excluded) == 0 {
		return fmt.Errorf("%w: the source lists no devices", ErrNoDevice)
	}
	parts := make([]string, len(excluded))
	for i, e := range excluded {
		parts[i] = e.Node + ": " + e.Reason
	}
	return fmt.Errorf("%w: %s", ErrNoDevice, strings.Join(parts, "; "))
}
