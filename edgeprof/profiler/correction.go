package profiler

import (
	"math"

	"github.com/foretime/foretime/edgeprof/measurement"
)

// Correction is a kernel of the user's own models that was measured on the device: how far
// its time was from what rates and trees say.
type Correction struct {
	Op     string  `json:"op"`
	Sizes  sizes   `json:"sizes"` // logarithms of base 2; see [place]
	Factor float64 `json:"factor"`
	// Kind, Model and Seconds, of all times that it runs, are missing in files from
	// before.
	Kind    string  `json:"kind,omitempty"`
	Model   string  `json:"model,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// sizes place a kernel among those of its operator.
type sizes [10]float64

func place(k *measurement.Kernel) sizes {
	return sizes{
		logSize(k.MACs), logSize(k.ParameterBytes), logSize(k.ReadBytes), logSize(k.WrittenBytes), logSize(k.Rows), logSize(k.Depth), logSize(k.Columns),
		logSize(k.Window), 2 * logSize(k.Stride), logSize(k.Groups),
	}
}

// kindOf tells kernels of one operator apart that run by other code.
func kindOf(k *measurement.Kernel) string {
	if k.Window > 1 {
		return k.Op + " " + string(k.Class) + " of windows"
	}
	return k.Op + " " + string(k.Class)
}

// The neighbourhood of a kernel: how many doublings of one size apart two are
// that tell half as much of each other as of themselves, and how many measured
// kernels what is said of the kind is worth.
const (
	bandwidth = 0.5
	prior     = 0.3
)

// priorModels is how many models say as much of a kind as rates and trees do.
const priorModels = 4

// neighbours correct a kernel's time by those of kernels near it: a weighted mean
// of logarithms (Nadaraya and Watson's), shrunk to that of its kind where none is
// near, and this to that of all.
type neighbours struct {
	byOp  map[string][]Correction // by operator
	kinds map[string]float64      // logarithms of factors
	all   float64
}

// neighboursOf indexes kernels.
func neighboursOf(known []Correction) neighbours {
	n := neighbours{byOp: map[string][]Correction{}, kinds: map[string]float64{}}
	byKind, everything := map[string]*mean{}, newMean()
	for i := range known {
		k := &known[i]
		n.byOp[k.Op] = append(n.byOp[k.Op], *k)
		if byKind[k.Kind] == nil {
			byKind[k.Kind] = newMean()
		}
		byKind[k.Kind].add(k)
		everything.add(k)
	}
	n.all = everything.shrunk(0)
	for name, m := range byKind {
		n.kinds[name] = m.shrunk(n.all)
	}
	return n
}

// mean is that of the logarithms of factors in each model, by time: kernels of one
// model tell little more than one.
type mean struct{ sum, weight map[string]float64 }

func newMean() *mean { return &mean{map[string]float64{}, map[string]float64{}} }

func (m *mean) add(k *Correction) {
	w := max(k.Seconds, math.SmallestNonzeroFloat64)
	m.sum[k.Model] += w * math.Log(k.Factor)
	m.weight[k.Model] += w
}

// shrunk is the mean of the models, weighed with what is known without them.
func (m *mean) shrunk(otherwise float64) float64 {
	sum := priorModels * otherwise
	for _, model := range sortedKeys(m.sum) { // in a fixed order: sums of floats depend on it
		sum += m.sum[model] / m.weight[model]
	}
	return sum / float64(priorModels+len(m.sum))
}

func (n *neighbours) factor(k *measurement.Kernel) float64 {
	of, ok := n.kinds[kindOf(k)]
	if !ok {
		of = n.all
	}
	at, sum, weight := place(k), prior*of, prior
	for i := range n.byOp[k.Op] {
		known := &n.byOp[k.Op][i]
		d := 0.0
		for j := range at {
			d += (at[j] - known.Sizes[j]) * (at[j] - known.Sizes[j])
		}
		w := math.Exp2(-d / (bandwidth * bandwidth))
		sum += w * math.Log(known.Factor)
		weight += w
	}
	return math.Exp(sum / weight)
}
