package profiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
)

// MeasuredOperators holds the operators, in their usual form, of the models by which the Go
// runtime is calibrated, and those that run the same code. It must not be changed.
var MeasuredOperators = operatorSet(
	"Conv Gemm MatMul LSTM MaxPool AveragePool GlobalAveragePool LRN",
	"Relu Clip Sigmoid Tanh Erf Add Mul Softmax LayerNormalization BatchNormalization ReduceMean",
	"Concat Flatten Reshape Slice Transpose",
	"QuantizeLinear DequantizeLinear QLinearConv QLinearMatMul",
	"Identity Squeeze Unsqueeze Dropout", // copies, as Reshape is
	"If Loop Scan",                       // what they run is counted by itself
)

func operatorSet(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for op := range strings.FieldsSeq(list) {
			set[op] = true
		}
	}
	return set
}

// leastShare is the share of the time from which on a warning names an operator.
const leastShare = 0.01

// unmeasured returns the share of the time in operators that no model of the calibration
// has though another of their class was measured, and a warning that names them. The rates
// of a class are those of its usual operators: in the Go runtime others take up to a
// hundred times as long.
func (c *Calibration) unmeasured(kernels []measurement.Kernel, seconds []float64, idle float64) (float64, []error) {
	if c.Facts.Runtime != "go" {
		return 0, nil
	}
	share, each := 0.0, map[string]float64{}
	for i := range kernels {
		k := &kernels[i]
		_, own := c.kinds[kindOf(k)]
		if k.Op == "" || MeasuredOperators[k.Op] && k.Variant == "" || own && k.Variant == "" || c.Rates[k.Class].Nodes == 0 {
			continue
		}
		part := seconds[i] / max(idle, least)
		share += part
		name := k.Op
		if k.Variant != "" {
			name += " (" + k.Variant + ")"
		}
		each[name] += part
	}
	named := slices.DeleteFunc(sortedKeys(each), func(op string) bool { return each[op] < leastShare })
	if len(named) == 0 {
		return share, nil
	}
	return share, []error{fmt.Errorf("%w: no %s operator was measured", ErrUnlike, strings.Join(named, ", "))}
}
