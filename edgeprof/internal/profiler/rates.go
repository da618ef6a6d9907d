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

// seconds of one kernel.
func (r Rates) seconds(k *measurement.Kernel) float64 {
	return r.Start + r.MAC*float64(k.MACs) + r.Byte*moved(k)
}

// moved returns the bytes that a kernel moves. A convolution over other than two dimensions
// also writes the values under its window into a matrix, which it then multiplies.
func moved(k *measurement.Kernel) float64 {
	bytes := float64(k.Bytes())
	if k.Class == onnx.ClassConv1D || k.Class == onnx.ClassConv3D {
		bytes += 4 * float64(k.Groups) * float64(k.Depth) * float64(k.Columns)
	}
	return bytes
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
			if k := &c.Kernels[i]; k.Seconds != nil && *k.Seconds > 0 {
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

// Complete adds the rates of classes that the calibration does not have and that have a
// substitute: that one's, of which none was measured.
func (c *Calibration) Complete() {
	for class, other := range substitute {
		if r, ok := c.Rates[other]; ok {
			if _, has := c.Rates[class]; !has {
				r.Nodes = 0
				c.Rates[class] = r
			}
		}
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
		s := regression.Samples{Features: 3}
		for i, k := range kernels {
			w := 1 / math.Sqrt(predicted[i]**k.Seconds)
			size := 0.0
			if bytes {
				size = w * moved(k)
			}
			s.X = append(s.X, w, w*float64(k.MACs), size)
			s.Y = append(s.Y, w**k.Seconds)
		}
		m, err := linear.NNLS{NoIntercept: true}.Fit(context.Background(), s)
		if err != nil {
			return Rates{}, false
		}
		r = Rates{Start: m.Coefficients[0], MAC: m.Coefficients[1], Byte: m.Coefficients[2], Nodes: len(kernels)}
		for i, k := range kernels {
			predicted[i] = max(r.seconds(k), *k.Seconds/1000)
		}
	}
	return r, true
}
