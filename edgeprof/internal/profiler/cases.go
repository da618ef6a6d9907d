package profiler

import (
	"cmp"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/stats"
)

// Case is one model measured in one setting.
type Case struct {
	Model   string
	Family  string
	Setting string
	Threads int
	// Seconds is the time of an inference on an idle machine; see [typical].
	Seconds float64
	// Call is the part of Seconds that an inference takes whatever it computes: 0
	// where no model of a single small kernel was measured in the setting.
	Call float64
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
		cases = append(cases, *c)
	}
	cases = withCalls(cases)
	subtractOverhead(cases)
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
	for i := range c.Kernels {
		c.Kernels[i].Seconds = nil
	}
}

// CallModel is the name of the model that measures what a call takes: one kernel
// of one value.
const CallModel = "call"

// withCalls takes the models that measure calls away, and notes in the other cases
// of the setting what they took.
func withCalls(cases []Case) []Case {
	calls := map[string]float64{}
	for _, c := range cases {
		if c.Family == Operators && c.Model == CallModel {
			calls[c.Setting] = c.Seconds
		}
	}
	rest := slices.DeleteFunc(cases, func(c Case) bool { return c.Family == Operators && c.Model == CallModel })
	for i := range rest {
		rest[i].Call = calls[rest[i].Setting]
	}
	return rest
}

// work returns the time of the case's kernels: a tenth of the whole at least.
func (c *Case) work() float64 { return max(c.Seconds-c.Call, c.Seconds/10) }

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

// subtractOverhead makes times of kernels comparable with the whole inference's,
// which was measured without profiling. ONNX Runtime's profiling of a kernel takes
// longer than a small one. How long shows where kernels are small, by what they sum
// to beyond the whole: as much comes off every kernel of the setting, and the rest
// is scaled to the whole.
func subtractOverhead(cases []Case) {
	bySetting := map[string][]float64{}
	for i := range cases {
		c := &cases[i]
		if sum, n := c.sum(0); sum > c.work() {
			bySetting[c.Setting] = append(bySetting[c.Setting], (sum-c.work())/float64(n))
		}
	}
	for i := range cases {
		c := &cases[i]
		overhead := 0.0
		if all := bySetting[c.Setting]; len(all) > 0 {
			overhead = stats.Median(all)
		}
		if sum, _ := c.sum(0); sum > c.work() {
			overhead = c.overhead()
		}
		overhead = min(overhead, mostOverhead)
		out := slices.Clone(c.Kernels)
		for i := range out {
			if k := &out[i]; k.Seconds != nil {
				t := net(*k.Seconds, overhead)
				k.Seconds = &t
			}
		}
		c.Kernels = scaleKernels(out, c.work())
	}
}

// mostOverhead is more than profiling a kernel takes, in seconds: what is beyond it
// was another program's, and all kernels' alike. ONNX Runtime's profiling takes 2 to
// 5 µs a kernel; without the bound intervals of a busy machine were 0.94 instead of 0.70
// wide.
const mostOverhead = 8e-6

// sum of the kernels' times without a given overhead of each, and their number.
func (c *Case) sum(overhead float64) (seconds float64, n int) {
	for _, k := range c.Kernels {
		if k.Seconds != nil {
			seconds += net(*k.Seconds, overhead)
			n++
		}
	}
	return seconds, n
}

// overhead returns the time that makes the sum the whole.
func (c *Case) overhead() float64 {
	low, high := 0.0, c.Seconds
	for _, k := range c.Kernels {
		high = max(high, valueOr(k.Seconds, 0))
	}
	for range 50 {
		middle := (low + high) / 2
		if sum, _ := c.sum(middle); sum > c.work() {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// net returns a kernel's time without the overhead: a tenth at least.
func net(seconds, overhead float64) float64 { return max(seconds-overhead, seconds/10) }

// scaleKernels makes kernels sum to another time.
func scaleKernels(kernels []measurement.Kernel, seconds float64) []measurement.Kernel {
	out := slices.Clone(kernels)
	sum := 0.0
	for _, k := range out {
		sum += valueOr(k.Seconds, 0)
	}
	for i := range out {
		if k := &out[i]; k.Seconds != nil && sum > 0 && !math.IsInf(seconds, 0) {
			t := *k.Seconds * seconds / sum
			k.Seconds = &t
		}
	}
	return out
}
