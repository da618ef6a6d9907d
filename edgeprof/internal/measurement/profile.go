package measurement

import (
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// KernelRuns are the times of each kernel in some profiled inferences.
func KernelRuns(kernels []onnx.Kernel, profiles []runtime.Profile) [][]float64 {
	times := make([][]float64, len(kernels))
	for _, p := range profiles {
		for k, t := range KernelTimes(kernels, p) {
			times[k] = append(times[k], t)
		}
	}
	return times
}

// KernelTimes is the time of each kernel in one profiled inference. A kernel
// that the runtime made itself (it brings tensors into another order) counts to
// the one it serves: the one before when it handles an output, else the one
// after. A kernel that the profile does not show has no time: 0.
func KernelTimes(kernels []onnx.Kernel, p runtime.Profile) []float64 {
	of := map[int]int{}
	for k := range kernels {
		for _, n := range kernels[k].Nodes {
			of[n] = k
		}
	}
	var skips []int // kernels that ONNX Runtime does not name after a node
	for k := range kernels {
		if kernels[k].Op == onnx.SkipNormalization {
			skips = append(skips, k)
		}
	}
	times := make([]float64, len(kernels))
	last, waiting := -1, 0.0
	for _, n := range p.Nodes {
		k, ok := of[n.Node]
		if n.Op == onnx.SkipNormalization && !ok && len(skips) > 0 {
			k, skips, ok = skips[0], skips[1:], true
		}
		switch {
		case ok:
			times[k] += n.Seconds + waiting
			last, waiting = k, 0
		case last >= 0 && strings.Contains(strings.ToLower(n.Name), "output"):
			times[last] += n.Seconds
		default:
			waiting += n.Seconds
		}
	}
	if last >= 0 {
		times[last] += waiting
	}
	return times
}
