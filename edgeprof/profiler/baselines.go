package profiler

import (
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/measurement"
	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/shared/stats"
)

// BaselineRoofline predicts the longer of computing and moving at the device's best
// observed rates, times one factor that suits it best; a trained model is judged
// beside it.
const BaselineRoofline = "roofline"

// roofline learns each setting's peaks; it predicts NaN where it has nothing to go by.
func roofline(train []Case) func(*Case) float64 {
	type peak struct{ macs, bytes, factor float64 }
	peaks := map[string]*peak{}
	predict := func(p *peak, c *Case) float64 {
		macs, bytes := 0.0, 0.0
		for i := range c.Kernels {
			macs, bytes = macs+float64(c.Kernels[i].MACs), bytes+float64(c.Kernels[i].Bytes())
		}
		return max(macs/p.macs, bytes/p.bytes)
	}
	for _, c := range train {
		p := peaks[c.Setting]
		if p == nil {
			p = &peak{}
			peaks[c.Setting] = p
		}
		for i := range c.Kernels {
			if k := &c.Kernels[i]; k.Seconds != nil && *k.Seconds > 2e-5 { // long enough to be sure of
				p.macs = max(p.macs, float64(k.MACs) / *k.Seconds)
				p.bytes = max(p.bytes, float64(k.Bytes()) / *k.Seconds)
			}
		}
	}
	for setting, p := range peaks {
		var ratios []float64
		for i := range train {
			if c := &train[i]; c.Setting == setting && p.macs > 0 && p.bytes > 0 && len(c.Kernels) > 0 {
				ratios = append(ratios, c.Seconds/predict(p, c))
			}
		}
		if len(ratios) > 0 {
			p.factor = stats.Median(ratios)
		}
	}
	return func(c *Case) float64 {
		p := peaks[c.Setting]
		if p == nil || p.factor == 0 || len(c.Kernels) == 0 {
			return math.NaN()
		}
		return p.factor * predict(p, c)
	}
}

// unseen are the classes of a case's kernels that no kernel of the training had.
func unseen(rates map[onnx.Class]Rates, kernels []measurement.Kernel) []onnx.Class {
	var out []onnx.Class
	for _, class := range classes {
		if rates[class].Nodes == 0 && slices.ContainsFunc(kernels, func(k measurement.Kernel) bool { return k.Class == class }) {
			out = append(out, class)
		}
	}
	return out
}
