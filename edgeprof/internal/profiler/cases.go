package profiler

import (
	"cmp"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
)

// Case is one model measured in one setting.
type Case struct {
	Model   string
	Family  string
	Setting string
	Threads int
	// Seconds is the time of an inference on an idle machine; see [typical].
	Seconds float64
	// Kernels with their times, which sum to Seconds.
	Kernels []measurement.Kernel
	// Rows are the measured inferences.
	Rows []measurement.Row
}

type caseKey struct{ model, setting string }

// Cases groups measurements, in order of model and setting.
func Cases(d *measurement.Data) []Case {
	byKey := map[caseKey]*Case{}
	for _, r := range d.Rows {
		key := caseKey{r.ModelName, r.Setting}
		c := byKey[key]
		if c == nil {
			c = &Case{Model: r.ModelName, Family: r.Family, Setting: r.Setting, Threads: int(valueOr(r.Threads, 1))}
			byKey[key] = c
		}
		c.Rows = append(c.Rows, r)
	}
	for _, k := range d.Kernels {
		if c := byKey[caseKey{k.ModelName, k.Setting}]; c != nil {
			c.merge(k)
		}
	}
	var cases []Case
	for _, c := range byKey {
		c.Seconds = typical(c.Rows)
		slices.SortFunc(c.Kernels, func(a, b measurement.Kernel) int { return cmp.Compare(a.Index, b.Index) })
		c.untangle()
		c.subtractOverhead()
		cases = append(cases, *c)
	}
	slices.SortFunc(cases, func(a, b Case) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Setting, b.Setting))
	})
	return cases
}

func valueOr(v *float64, otherwise float64) float64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// merge keeps the shorter of a kernel's times in two rounds. ONNX Runtime reports whole
// microseconds, of which a mean is more precise than the shortest.
func (c *Case) merge(k measurement.Kernel) {
	for i := range c.Kernels {
		if old := &c.Kernels[i]; old.Index == k.Index {
			if old.Seconds == nil || k.Seconds != nil && *k.Seconds < *old.Seconds {
				*old = k
			}
			return
		}
	}
	c.Kernels = append(c.Kernels, k)
}

// untangle drops the times of kernels of a model with control flow: a runtime reports a node
// with all of its body's time.
func (c *Case) untangle() {
	if !slices.ContainsFunc(c.Kernels, func(k measurement.Kernel) bool { return k.Op == "If" || k.Op == "Loop" || k.Op == "Scan" }) {
		return
	}
	c.Kernels = slices.Clone(c.Kernels)
	for i := range c.Kernels {
		c.Kernels[i].Seconds = nil
	}
}

// typical returns the lower quartile of what rows took without waiting for processors:
// other work only makes them longer, and the shortest is luckier than a user's.
func typical(rows []measurement.Row) float64 {
	seconds := make([]float64, len(rows))
	for i := range rows {
		seconds[i] = rows[i].LeastSeconds()
	}
	slices.Sort(seconds)
	return seconds[(len(seconds)-1)/4]
}

// mostOverhead is more than profiling a kernel takes, in seconds: what is beyond it
// was another program's, and all kernels' alike. ONNX Runtime's profiling takes 2 to
// 5 µs a kernel; without the bound intervals of a busy machine were 0.94 instead of 0.70
// wide.
const mostOverhead = 8e-6

// subtractOverhead makes times of kernels comparable with the whole inference's,
// which was measured without profiling. What they sum to beyond the whole is the time of
// profiling: as much comes off every kernel, but for a tenth, and the rest is scaled to the
// whole.
func (c *Case) subtractOverhead() {
	c.Kernels = slices.Clone(c.Kernels)
	sum := 0.0
	n := 0
	for _, k := range c.Kernels {
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
