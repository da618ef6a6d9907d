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
	Required bool      // there is no default
	Choices  []float64 // what tuning chooses from
	Hours    bool      // choices longer than the service are left out
	// AtCost, where set, follows from what an hour of overlap costs, in hours of
	// interruption, and takes the place of tuning.
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

// Tunable returns the settings that tuning chooses from for a service of so
// many hours.
func (k *Knob) Tunable(serviceHours float64) []float64 {
	var out []float64
	for _, c := range k.Choices {
		if !k.Hours || c <= serviceHours {
			out = append(out, c)
		}
	}
	return out
}

// Baselines are the policies by name; one more is a line here and a file.
func Baselines() registry.List[Baseline] {
	return registry.List[Baseline]{
		{Name: "reactive", Help: "submit when the predecessor has ended", New: Baseline{Policy: always(Fixed{})}},
		{Name: "avg", Help: "submit ahead by the mean of the last 100 waits", New: Baseline{Policy: always(Average{}), Rival: true}},
		{Name: "quantile", Help: "submit ahead by a quantile of the last 500 waits", New: quantile},
		{Name: "fixed", Help: "submit ahead by a fixed time", New: fixed},
		{Name: "forecast", Help: "submit ahead by the wait from simulating the queue with time limits", New: queueForecast},
		{Name: "futures", Help: "least expected cost over sampled futures of the queue (run times and arrivals from the past)", New: futures},
		{Name: "never-late", Help: "submit when the predecessor starts", New: Baseline{Policy: always(Fixed{LeadHours: math.Inf(1)})}},
	}
}

// always is a policy that has no setting.
func always(p Policy) func(float64) Policy { return func(float64) Policy { return p } }
