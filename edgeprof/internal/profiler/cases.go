package profiler

import (
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
)

// Case is one model measured with a number of threads.
type Case struct {
	Model   string
	Family  string
	Threads int
	// Seconds is the time of an inference on an idle machine.
	Seconds float64
	// Kernels with their times, which sum to more than Seconds by the time of profiling.
	Kernels []measurement.Kernel
	// Times are those of an inference in each burst, without waits for processors.
	Times []float64
}

// TypicalSeconds returns the lower quartile of the times: other work only makes them longer, and
// the shortest is luckier than a user's.
func (c *Case) TypicalSeconds() float64 {
	return slices.Sorted(slices.Values(c.Times))[(len(c.Times)-1)/4]
}

// mostOverhead is more than profiling a kernel takes, in seconds: what is beyond it
// was another program's, and all kernels' alike. ONNX Runtime's profiling takes 2 to
// 5 µs a kernel; without the bound intervals of a busy machine were 0.94 instead of 0.70
// wide.
const mostOverhead = 8e-6

// prepareKernels makes times of kernels comparable with the whole inference's,
// which was measured without profiling. What they sum to beyond the whole is the time of
// profiling: as much comes off every kernel, but for a tenth, and the rest is scaled to the
// whole.
//
// Kernels of a model with control flow lose their times: a runtime reports a node with all of
// its body's time.
func (c *Case) prepareKernels() {
	c.Kernels = slices.Clone(c.Kernels)
	nested := slices.ContainsFunc(c.Kernels, func(k measurement.Kernel) bool { return k.Op == "If" || k.Op == "Loop" || k.Op == "Scan" })
	sum := 0.0
	n := 0
	for i := range c.Kernels {
		k := &c.Kernels[i]
		if nested {
			k.Seconds = nil
		}
		if k.Seconds != nil {
			sum += *k.Seconds
			n++
		}
	}
	overhead := min(max(0, sum-c.Seconds)/float64(max(1, n)), mostOverhead)
	rest := 0.0
	for i := range c.Kernels {
		if k := &c.Kernels[i]; k.Seconds != nil {
			t := max(*k.Seconds-overhead, *k.Seconds/10)
			k.Seconds = &t
			rest += t
		}
	}
	for _, k := range c.Kernels {
		if k.Seconds != nil && rest > 0 {
			*k.Seconds *= c.Seconds / rest
		}
	}
}
