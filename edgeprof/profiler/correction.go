package profiler

import (
	"math"

	"github.com/foretime/foretime/edgeprof/measurement"
)

// Correction is how far the kernels of one kind in one of the user's own models, as
// the device was measured with them, are from what rates and trees say.
type Correction struct {
	Kind    string  `json:"kind"`
	Model   string  `json:"model"`
	Factor  float64 `json:"factor"`  // the geometric mean, by time
	Seconds float64 `json:"seconds"` // of these kernels in an inference, as rates and trees say
}

// kindOf tells kernels apart that run by other code.
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

// priorModels is how many models say as much of a kind as rates and trees do.
const priorModels = 4

// learnNear notes how far the kernels of the user's own models are from what
// rates and trees say of them.
func (c *Calibration) learnNear(cases []Case) {
	c.Corrections = nil
	for _, m := range cases {
		if m.Family != Own {
			continue
		}
		at := conditionsOf(c.Facts.Threads, c.Facts.quota(), m.Kernels)
		logs, seconds := map[string]float64{}, map[string]float64{}
		for i := range m.Kernels {
			k := &m.Kernels[i]
			if p := c.once(k, at) * c.scale(); k.Seconds != nil && *k.Seconds > 0 && p > 0 {
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

// index finds the factors of kinds: those of the models, drawn to that of all, and
// this to none.
func (c *Calibration) index() {
	byKind := map[string][]Correction{}
	for _, k := range c.Corrections {
		byKind[k.Kind] = append(byKind[k.Kind], k)
	}
	c.anyKind, c.kinds = shrunk(c.Corrections, 0), map[string]float64{}
	for kind, of := range byKind {
		c.kinds[kind] = shrunk(of, c.anyKind)
	}
}

// shrunk is the mean of the models' logarithms of factors, weighed with what is
// known without them: kernels of one model tell little more than one.
func shrunk(corrections []Correction, otherwise float64) float64 {
	logs, seconds := map[string]float64{}, map[string]float64{}
	for _, k := range corrections {
		w := max(k.Seconds, math.SmallestNonzeroFloat64)
		logs[k.Model] += w * math.Log(k.Factor)
		seconds[k.Model] += w
	}
	sum := priorModels * otherwise
	for _, model := range sortedKeys(logs) { // in a fixed order: sums of floats depend on it
		sum += logs[model] / seconds[model]
	}
	return sum / float64(priorModels+len(logs))
}

// correction is the factor on a kernel's time.
func (c *Calibration) correction(k *measurement.Kernel) float64 {
	if log, ok := c.kinds[kindOf(k)]; ok {
		return math.Exp(log)
	}
	return math.Exp(c.anyKind)
}
