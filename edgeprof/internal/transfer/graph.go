package transfer

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// Describe notes what the models' graphs are made of: those that are nil are not
// known. The features are the logarithms of how many operators of each kind there
// are, of multiply-accumulates by the side of their window, and of sizes.
func (t *Table) Describe(graphs []*onnx.Analysis) error {
	counts := make([]map[string]float64, len(graphs))
	names := map[string]bool{}
	for k, a := range graphs {
		if a == nil {
			continue
		}
		c, err := a.Characteristics()
		if err != nil {
			return err
		}
		counts[k] = features(a, c)
		maps.Insert(names, maps.All(present(counts[k])))
	}
	t.Graphs = make([][]float64, len(graphs))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var column []float64
		for _, c := range counts {
			if c != nil {
				column = append(column, math.Log1p(c[name]))
			}
		}
		mean, deviation := stat.PopMeanStdDev(column, nil)
		if deviation < 1e-9 {
			continue // all have as much
		}
		for k, c := range counts {
			if c != nil {
				t.Graphs[k] = append(t.Graphs[k], (math.Log1p(c[name])-mean)/deviation)
			}
		}
	}
	return nil
}

func present(counts map[string]float64) map[string]bool {
	names := map[string]bool{}
	for name := range counts {
		names[name] = true
	}
	return names
}

func features(a *onnx.Analysis, c *onnx.Characteristics) map[string]float64 {
	f := map[string]float64{
		"macs": float64(c.MACs.Total), "parameters": float64(c.ParameterBytes), "activations": float64(c.ActivationBytes), "nodes": float64(c.Nodes), "depth": float64(c.Depth),
	}
	for op, n := range c.Ops {
		f["operators "+op] = float64(n)
	}
	for _, k := range a.Kernels(onnx.FusionAll) {
		class := string(k.Class)
		if k.Window > 1 {
			class += " of windows"
		}
		f["kernels "+class] += float64(k.Times)
		f["macs "+class] += float64(k.MACs * k.Times)
	}
	return f
}
