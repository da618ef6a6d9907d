package profiler

import (
	"math"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
)

// Correction holds the distance of the kernels of one kind in one of the user's own models, as
// measured on the device, from the answer of rates.
type Correction struct {
	Kind    string  `json:"kind"`
	Model   string  `json:"model"`
	Factor  float64 `json:"factor"`  // the geometric mean, by time
	Seconds float64 `json:"seconds"` // of these kernels in an inference, as rates say
}

// kindOf returns the kind of a kernel, which decides the code that runs it.
func kindOf(k *measurement.Kernel) string {
	kind := k.Op + " " + string(k.Class)
	if k.Precision != "" {
		kind += " in " + k.Precision
	}
	if k.Window > 1 {
		return kind + " of windows"
	}
	return kind
}

// priorModels is the number of models that count as much for a kind as rates do: chosen
// by hand, before the packages of DESIGN.md were measured.
const priorModels = 4

// learnNear notes how far the kernels of the user's own models are from what
// rates predict for them.
func (c *Calibration) learnNear(cases []Case) {
	c.Corrections = nil
	for _, m := range cases {
		if m.Family != Own {
			continue
		}
		logs, seconds := map[string]float64{}, map[string]float64{}
		for i := range m.Kernels {
			k := &m.Kernels[i]
			if p := c.Rates[k.Class].total(k) * c.scale(); k.Seconds != nil && *k.Seconds > 0 && p > 0 {
				all := p * float64(max(1, k.Times))
				logs[kindOf(k)] += all * bounded(math.Log(*k.Seconds/p))
				seconds[kindOf(k)] += all
			}
		}
		for _, kind := range sortedKeys(logs) {
			c.Corrections = append(c.Corrections, Correction{kind, m.Model, math.Exp(logs[kind] / seconds[kind]), seconds[kind]})
		}
	}
	c.index()
}

// bounded keeps the logarithm of a factor on rates to what can be believed.
func bounded(v float64) float64 { return max(-1.5, min(1.5, v)) }

// index finds the factors of kinds: the mean of the models' logarithms, weighed with the rates,
// whose factor is 1. Kernels of one model are hardly independent.
func (c *Calibration) index() {
	models := map[string]float64{}
	c.kinds = map[string]float64{}
	for _, k := range c.Corrections {
		models[k.Kind]++
		c.kinds[k.Kind] += math.Log(k.Factor)
	}
	for kind, n := range models {
		c.kinds[kind] /= priorModels + n
	}
}

// correction is the factor on a kernel's time: 1 for kinds in none of the models.
func (c *Calibration) correction(k *measurement.Kernel) float64 { return math.Exp(c.kinds[kindOf(k)]) }
