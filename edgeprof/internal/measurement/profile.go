package measurement

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// KernelRuns returns the times of each kernel in some profiled inferences.
func KernelRuns(kernels []onnx.Kernel, profiles []runtime.Profile) [][]float64 {
	times := make([][]float64, len(kernels))
	for _, p := range profiles {
		for k, t := range KernelTimes(kernels, p) {
			times[k] = append(times[k], t)
		}
	}
	return times
}

// KernelTimes returns the time of each kernel in one profiled inference. A kernel
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
			k = skips[0]
			skips = skips[1:]
			ok = true
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

// TrimmedMean returns the mean of the shorter half of some times: other work only makes a time
// longer, and a mean is finer than the clock that took them. It is 0 if there are none.
func TrimmedMean(times []float64) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return stat.Mean(sorted[:(len(sorted)+1)/2], nil)
}
