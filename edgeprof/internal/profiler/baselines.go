package profiler

import (
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/stats"
)

// The baselines that a trained model is compared with.
const (
	// BaselineNearest predicts the time of the most similar model measured.
	BaselineNearest = "nearest_neighbour"
	// BaselineRoofline predicts the longer of computing and moving at the
	// device's best observed rates, times one factor that suits it best.
	BaselineRoofline = "roofline"
)

// baseline predicts a case, or NaN where it has nothing to go by.
type baseline func(*Case) float64

// counts of a case, on a logarithmic scale.
func counts(c *Case) []float64 {
	r := &c.Rows[0]
	var x []float64
	for _, v := range []*float64{r.ConvLayers, r.FilterDetails, r.FCLayers, r.PoolLayers, r.TotalParameters, r.ConvMACs, r.DepthwiseMACs, r.DenseMACs, r.RecurrentMACs, r.Activations, r.Nodes} {
		if v != nil {
			x = append(x, math.Log2(1+max(0, *v)))
		} else {
			x = append(x, math.NaN())
		}
	}
	return x
}

// nearest remembers all; a case gets the time of the closest by its counts, of
// its own setting where that was measured.
func nearest(train []Case) baseline {
	settings := map[string]bool{}
	xs := make([][]float64, len(train))
	for i := range train {
		if train[i].Family != Operators {
			settings[train[i].Setting] = true
			xs[i] = counts(&train[i])
		}
	}
	return func(c *Case) float64 {
		x, best, answer := counts(c), math.Inf(1), math.NaN()
		for i := range train {
			if xs[i] == nil || settings[c.Setting] && train[i].Setting != c.Setting {
				continue
			}
			d := 0.0
			for k := range x {
				if v := x[k] - xs[i][k]; !math.IsNaN(v) {
					d += v * v
				}
			}
			if d < best {
				best, answer = d, train[i].Seconds
			}
		}
		return answer
	}
}

// roofline learns each setting's peaks.
func roofline(train []Case) baseline {
	type peak struct{ macs, bytes, factor float64 }
	peaks := map[string]*peak{}
	predict := func(p *peak, c *Case) float64 {
		macs, bytes := work(c)
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

func work(c *Case) (macs, bytes float64) {
	for i := range c.Kernels {
		macs += float64(c.Kernels[i].MACs)
		bytes += float64(c.Kernels[i].Bytes())
	}
	return macs, bytes
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
