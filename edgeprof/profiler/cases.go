package profiler

import (
	"cmp"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/collection"
)

// Case is one model measured in one setting.
type Case struct {
	Model   string
	Family  string
	Setting string
	Runtime string
	Threads int
	Quota   float64
	// Seconds is the shortest of the measured inferences: other work on the
	// machine only makes them longer.
	Seconds float64
	// Repeat is the shortest of every other round (or row, of one round) over the
	// shortest of the rest: how well the same measurement repeats. NaN when there
	// was only one.
	Repeat float64
	// Kernels with their times, which sum to Seconds.
	Kernels []collection.KernelRow
	// Rows are the measured inferences.
	Rows []collection.Row
}

type caseKey struct{ model, setting string }

// Cases groups measurements, in order of model and setting.
func Cases(d *collection.Data) []Case {
	byKey := map[caseKey]*Case{}
	for _, r := range d.Rows {
		key := caseKey{r.ModelName, r.Setting}
		c := byKey[key]
		if c == nil {
			c = &Case{Model: r.ModelName, Family: r.Family, Setting: r.Setting, Runtime: r.Runtime, Threads: int(known(r.Threads, 1)), Quota: known(r.Quota, 1), Seconds: math.Inf(1)}
			byKey[key] = c
		}
		c.Rows = append(c.Rows, r)
		c.Seconds = min(c.Seconds, r.Time.Value)
	}
	for _, k := range d.Kernels {
		if c := byKey[caseKey{k.ModelName, k.Setting}]; c != nil {
			c.merge(k)
		}
	}
	var cases []Case
	for _, c := range byKey {
		c.Repeat = c.repeat()
		slices.SortFunc(c.Kernels, func(a, b collection.KernelRow) int { return cmp.Compare(a.Index, b.Index) })
		c.Kernels = fitted(c.Kernels, c.Runtime, c.Seconds)
		cases = append(cases, *c)
	}
	slices.SortFunc(cases, func(a, b Case) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Setting, b.Setting))
	})
	return cases
}

func known(v *float64, otherwise float64) float64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// merge keeps the shorter of a kernel's times in two rounds. ONNX Runtime tells
// whole microseconds, so that a mean says more than the shortest; elsewhere the
// shortest is taken.
func (c *Case) merge(k collection.KernelRow) {
	if k.Min != nil && c.Runtime != "ort" {
		k.Seconds = k.Min
	}
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

func (c *Case) repeat() float64 {
	rounds := map[int]bool{}
	for _, r := range c.Rows {
		if r.Round != nil {
			rounds[*r.Round] = true
		}
	}
	shortest := [2]float64{math.Inf(1), math.Inf(1)}
	for i, r := range c.Rows {
		half := i % 2
		if len(rounds) > 1 {
			half = *r.Round % 2
		}
		shortest[half] = min(shortest[half], r.Time.Value)
	}
	if ratio := shortest[0] / shortest[1]; ratio > 0 && !math.IsInf(ratio, 0) {
		return ratio
	}
	return math.NaN()
}

// fitted makes times of kernels comparable with the whole inference's, which was
// measured without noting them. ONNX Runtime's noting takes longer than a small
// kernel: what its shortest one took comes off all, and the rest is scaled to sum
// to the whole. The Go run time's own notes cost next to nothing, and its kernels
// are short enough to find a quiet moment on a busy machine that a long inference
// does not: they stay as they are.
func fitted(kernels []collection.KernelRow, runtimeName string, seconds float64) []collection.KernelRow {
	if runtimeName != "ort" {
		return kernels
	}
	noting := longestNoting
	for _, k := range kernels {
		if k.Seconds != nil {
			noting = min(noting, 0.9**k.Seconds)
		}
	}
	out := slices.Clone(kernels)
	for i := range out {
		if k := &out[i]; k.Seconds != nil {
			t := *k.Seconds - noting
			k.Seconds = &t
		}
	}
	return scaled(out, seconds)
}

// longestNoting bounds what noting a kernel's time is thought to take.
const longestNoting = 6e-6
