package profiler

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
)

// kernelColumns are the features of a kernel. Sizes are logarithms of base 2 of
// one plus the size.
var kernelColumns = []string{
	"op", "class", "macs", "parameter_bytes", "read_bytes", "written_bytes", "rows", "depth", "columns", "window", "stride", "groups", "joined",
	"macs_per_byte", "rates_seconds", "start_share", "mac_share", "rows_mod_16", "depth_mod_16", "columns_mod_16", "threads", "quota", "mac_rate", "byte_rate", "model_bytes",
	"model_parameter_bytes", "channels", "channels_mod_16", "moved_bytes", "side_mod_6", "rows_filled",
}

// KernelTrees predict how far a kernel's time in one runtime is from what the
// rates of its class say: boosted trees on the logarithm of time over rates.
// Since rates grow with size and trees do not, sizes beyond those measured are
// the rates' matter.
type KernelTrees struct {
	ops      []string // codes of operators
	ensemble *tree.Ensemble
}

// conditions holds the circumstances in which a kernel runs.
type conditions struct {
	threads int
	quota   float64
	// What goes through the caches in one inference, kernel by kernel: bytes of
	// weights, and of these and results. A small kernel takes longer amid large
	// ones.
	parameters, touched int64
}

func conditionsOf(threads int, quota float64, kernels []measurement.Kernel) conditions {
	at := conditions{threads: threads, quota: quota}
	for i := range kernels {
		at.parameters += kernels[i].ParameterBytes
		at.touched += kernels[i].ParameterBytes + kernels[i].WrittenBytes
	}
	return at
}

// channels returns the channels of a convolution's input; of others the product's depth.
func channels(k *measurement.Kernel) int64 { return k.Depth / max(1, k.Window) * max(1, k.Groups) }

// filled returns the used fraction of the vectors of 16 values in which rows are computed.
func filled(rows int64) float64 { return float64(rows) / float64(max(1, (rows+15)/16*16)) }

func code(list []string, name string) float64 {
	if i := slices.Index(list, name); i >= 0 {
		return float64(i)
	}
	return math.NaN()
}

var runtimes = []string{"go", "ort"}

func logSize(n int64) float64 { return math.Log2(1 + float64(max(0, n))) }

// treeOperator returns the operator of a kernel by which trees know it: convolutions over
// other than two dimensions are operators of their own.
func treeOperator(k *measurement.Kernel) string {
	switch k.Class {
	case onnx.ClassConv1D, onnx.ClassConv3D, onnx.ClassDepthwiseND, onnx.ClassConv8, onnx.ClassDense8:
		return string(k.Class)
	}
	return k.Op
}

// features appends a kernel's row.
func features(x []float64, ops []string, k *measurement.Kernel, r Rates, at conditions) []float64 {
	seconds := max(1e-9, r.seconds(k))
	class := math.NaN()
	if i := slices.Index(classes, k.Class); i >= 0 {
		class = float64(i)
	}
	rate := func(v float64) float64 {
		if v <= 0 {
			return math.NaN()
		}
		return math.Log2(v)
	}
	return append(x,
		code(ops, treeOperator(k)), class, logSize(k.MACs), logSize(k.ParameterBytes), logSize(k.ReadBytes), logSize(k.WrittenBytes), logSize(k.Rows), logSize(k.Depth), logSize(k.Columns),
		float64(k.Window), float64(k.Stride), logSize(k.Groups), float64(k.NodeCount),
		logSize(k.MACs)-logSize(k.Bytes()), math.Log2(seconds), r.Start/seconds, r.multiplied(k)/seconds, float64(k.Rows%16), float64(k.Depth%16), float64(k.Columns%16),
		float64(at.threads), at.quota, rate(r.MAC), rate(r.Byte), logSize(at.touched),
		logSize(at.parameters), logSize(channels(k)), float64(channels(k)%16), logSize(k.Bytes()), float64(int64(math.Sqrt(float64(k.Columns)))%6), filled(k.Rows),
	)
}

// boost returns the settings of the trees.
func boost(rounds int) tree.Boost {
	categorical := make([]bool, len(kernelColumns))
	for i, name := range kernelColumns {
		categorical[i] = name == "op" || name == "class"
	}
	// the size was chosen on another collection of the same models (docs/measured.md)
	return tree.Boost{Rounds: rounds, Eta: 0.05, MaxDepth: 8, MinChildWeight: 4, Lambda: 5, Subsample: 0.7, ColsampleNode: 0.7, Categorical: categorical, Seed: 1}
}

// learnTrees fits trees to the cases, each with the rates of its setting.
func learnTrees(ctx context.Context, cases []Case, rates map[string]map[onnx.Class]Rates, rounds int) (*KernelTrees, error) {
	t := &KernelTrees{}
	for _, c := range cases {
		for i := range c.Kernels {
			if op := treeOperator(&c.Kernels[i]); !slices.Contains(t.ops, op) {
				t.ops = append(t.ops, op)
			}
		}
	}
	slices.Sort(t.ops)
	s := regression.Samples{Features: len(kernelColumns)}
	for _, c := range cases {
		at := conditionsOf(c.Threads, c.Quota, c.Kernels)
		for i := range c.Kernels {
			k := &c.Kernels[i]
			if k.Seconds == nil || *k.Seconds <= 0 {
				continue
			}
			r := rates[c.Setting][k.Class]
			s.X = features(s.X, t.ops, k, r, at)
			s.Y = append(s.Y, bounded(math.Log(*k.Seconds/max(1e-9, r.seconds(k)))))
			// What counts is the sum: a kernel weighs by its part of it.
			s.Weights = append(s.Weights, 0.1+math.Sqrt(float64(len(c.Kernels))**k.Seconds/c.Seconds))
		}
	}
	if s.Len() == 0 {
		return nil, fmt.Errorf("%w: no kernel has a time", ErrTooFew)
	}
	var err error
	if t.ensemble, err = boost(rounds).Fit(ctx, s); err != nil {
		return nil, err
	}
	return t, t.ensemble.SetNames(kernelColumns)
}

// bounded keeps the logarithm of a factor on rates to what can be believed.
func bounded(v float64) float64 { return max(-1.5, min(1.5, v)) }

// factor returns the trees' correction of the rates. Of an operator that they have not
// seen they know nothing.
func (t *KernelTrees) factor(k *measurement.Kernel, r Rates, at conditions) float64 {
	if t == nil || !slices.Contains(t.ops, treeOperator(k)) {
		return 1
	}
	var row [32]float64
	p, err := t.ensemble.Predict(features(row[:0], t.ops, k, r, at))
	if err != nil {
		return 1
	}
	return math.Exp(bounded(p.Value))
}
