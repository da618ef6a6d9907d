package profiler

import (
	"context"
	"math"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
)

// Rates holds the costs of one class of operator, in seconds.
type Rates struct {
	Start float64 `json:"start_seconds"`
	MAC   float64 `json:"mac_seconds"`
	Byte  float64 `json:"byte_seconds"`
	Nodes int     `json:"nodes"` // measured kernels
}

// workload holds the sizes of a kernel that its seconds are proportional to: starts,
// multiply-accumulates and bytes.
type workload [3]float64

// sizes returns what the seconds of a kernel are proportional to.
func sizes(k *measurement.Kernel) workload {
	w := workload{1, float64(k.MACs), float64(k.Bytes())}
	if k.Class == onnx.ClassConv1D || k.Class == onnx.ClassConv3D {
		w[2] += 4 * float64(k.Unfolded)
	}
	return w
}

// seconds of one kernel without its operator's effort.
func (r Rates) seconds(k *measurement.Kernel) float64 {
	w := sizes(k)
	return r.Start*w[0] + r.MAC*w[1] + r.Byte*w[2]
}

// total returns the seconds of one kernel with its operator's effort, which multiplies all
// but the start.
func (r Rates) total(k *measurement.Kernel) float64 {
	seconds := r.seconds(k)
	if k.Effort > 0 {
		seconds += (k.Effort - 1) * (seconds - r.Start)
	}
	return seconds
}

var classes = onnx.Classes()

// substitute is the class whose rates serve for one that was not measured.
var substitute = map[onnx.Class]onnx.Class{
	onnx.ClassVector: onnx.ClassDense, onnx.ClassErf: onnx.ClassFunction, onnx.ClassSoftmax: onnx.ClassFunction, onnx.ClassNormalize: onnx.ClassFunction, onnx.ClassMove: onnx.ClassOther, onnx.ClassResponse: onnx.ClassFunction,
	onnx.ClassConv1D: onnx.ClassConv, onnx.ClassConv3D: onnx.ClassConv, onnx.ClassDepthwiseND: onnx.ClassDepthwise,
	onnx.ClassConv8: onnx.ClassConv, onnx.ClassDense8: onnx.ClassDense,
}

// ratesFor finds the rates of each class from kernels with their times. A class
// without measurements gets those of its kin, or of all kernels together.
func ratesFor(cases []Case) map[onnx.Class]Rates {
	byClass := map[onnx.Class][]*measurement.Kernel{}
	var all []*measurement.Kernel
	for _, c := range cases {
		for i := range c.Kernels {
			if k := &c.Kernels[i]; k.Seconds != nil && *k.Seconds > 0 && !k.Unmet {
				byClass[k.Class] = append(byClass[k.Class], k)
				all = append(all, k)
			}
		}
	}
	rates := map[onnx.Class]Rates{}
	for _, class := range classes {
		r, ok := ratesOf(byClass[class])
		if !ok {
			if r, ok = ratesOf(byClass[substitute[class]]); !ok {
				r, _ = ratesOf(all)
			}
			r.Nodes = 0
		}
		rates[class] = r
	}
	return rates
}

// Complete prepares a calibration that was read: it adds the rates of classes that the
// file does not have and that have a substitute (that one's, of which none was measured).
func (c *Calibration) Complete() {
	for class, other := range substitute {
		if r, ok := c.Rates[other]; ok {
			if _, has := c.Rates[class]; !has {
				r.Nodes = 0
				c.Rates[class] = r
			}
		}
	}
	if c.All != nil {
		c.All.Complete()
	}
}

// reweightings until the weights stand still, in practice.
const reweightings = 12

// ratesOf minimises the sum of (p-t)^2/(p t), p the predicted and t the measured
// time, with no rate below zero: short kernels count like long ones, and too much
// by a factor counts like too little by it. Each round is non-negative least
// squares with weights from the round before. Where sizes in bytes alone explain the
// times of kernels that multiply, as in matrix products whose weights are read once,
// the bytes have no rate: products of other sizes would take no time.
func ratesOf(kernels []*measurement.Kernel) (Rates, bool) {
	r, ok := fitRates(kernels, true)
	if ok && r.MAC == 0 && multiplies(kernels) {
		return fitRates(kernels, false)
	}
	return r, ok
}

// multiplies reports whether most kernels have multiply-accumulates that their bytes do
// not determine, as those of a matrix by a vector do.
func multiplies(kernels []*measurement.Kernel) bool {
	n := 0
	for _, k := range kernels {
		if k.MACs > 0 && k.Class != onnx.ClassVector {
			n++
		}
	}
	return 2*n > len(kernels)
}

func fitRates(kernels []*measurement.Kernel, bytes bool) (Rates, bool) {
	if len(kernels) < 3 {
		return Rates{}, false
	}
	r := Rates{}
	predicted := make([]float64, len(kernels))
	for i, k := range kernels {
		predicted[i] = *k.Seconds
	}
	for range reweightings {
		s := regression.Samples{Features: len(workload{})}
		for i, k := range kernels {
			w := 1 / math.Sqrt(predicted[i]**k.Seconds)
			c := sizes(k)
			if !bytes {
				c[2] = 0
			}
			if k.Effort > 0 {
				for j := range c[1:] {
					c[1+j] *= k.Effort
				}
			}
			for _, size := range c {
				s.X = append(s.X, w*size)
			}
			s.Y = append(s.Y, w**k.Seconds)
		}
		m, err := linear.NNLS{}.Fit(context.Background(), s)
		if err != nil {
			return Rates{}, false
		}
		v := m.Coefficients
		r = Rates{Start: v[0], MAC: v[1], Byte: v[2], Nodes: len(kernels)}
		for i, k := range kernels {
			predicted[i] = max(r.total(k), *k.Seconds/1000)
		}
	}
	return r, true
}
