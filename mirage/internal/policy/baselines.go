package policy

import (
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/registry"
)

// ErrKnob is returned when a baseline is given a setting it cannot have.
var ErrKnob = errors.New("setting out of range")

// Baseline is a policy that learns nothing.
type Baseline struct {
	Policy    func(setting float64) Policy
	Knob      *Knob // its one setting; nil where it has none
	Rival     bool  // comparisons play it
	Forecasts bool  // it asks what State.Queue is for
}

// Knob is the setting of a baseline.
type Knob struct {
	Name     string // in settings and results
	Help     string
	Most     float64
	Default  float64
	Required bool // there is no default
	// AtCost, where set, returns the default for a cost of an hour of overlap in hours
	// of interruption.
	AtCost func(overlap float64) float64
}

// Check returns an error that wraps ErrKnob where the setting is below 0 or
// above the most.
func (k *Knob) Check(setting float64) error {
	if !(setting >= 0 && setting <= k.Most) || math.IsInf(setting, 0) {
		return fmt.Errorf("policy.%s: %w: %v is not in [0, %v]", k.Name, ErrKnob, setting, k.Most)
	}
	return nil
}

// Baselines returns the policies by name; one more is a line here and a file.
func Baselines() registry.List[Baseline] {
	return registry.List[Baseline]{
		{Name: "reactive", Help: "submit when the predecessor has ended", New: Baseline{Policy: always(Fixed{})}},
		{Name: "avg", Help: "submit ahead by the mean of the last 100 waits", New: Baseline{Policy: always(Average{}), Rival: true}},
		{Name: "quantile", Help: "submit ahead by a quantile of the last 500 waits", New: quantile},
		{Name: "fixed", Help: "submit ahead by a fixed time", New: fixed},
		{Name: "forecast", Help: "submit ahead by the wait from simulating the queue with two fifths of all time limits", New: Baseline{Policy: always(QueueForecast{}), Forecasts: true, Rival: true}},
		{Name: "futures", Help: "least expected cost over sampled futures of the queue (run times and arrivals from the past)", New: futures},
		{Name: "never-late", Help: "submit when the predecessor starts", New: Baseline{Policy: always(Fixed{LeadHours: math.Inf(1)})}},
	}
}

// always returns a constructor of a policy without a setting.
func always(p Policy) func(float64) Policy { return func(float64) Policy { return p } }
