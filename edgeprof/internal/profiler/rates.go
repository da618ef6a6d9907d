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
	Start    float64      `json:"start_seconds"`
	MAC      float64      `json:"mac_seconds"`
	Byte     float64      `json:"byte_seconds"`
	Products ProductRates `json:"products,omitzero"`
	Nodes    int          `json:"nodes"` // measured kernels
}

// ProductRates holds further costs of matrix products in the Go runtime, which has two
// algorithms: it copies the weights of a large product into the order of its vector
// instructions, and adds up rows of a small one. A convolution of each channel by itself adds
// up lines, which Small counts if they have a stride. The zero value is a runtime that has
// one algorithm.
type ProductRates struct {
	Packed   int64   `json:"packed_macs"`           // multiply-accumulates of the smallest large product
	Copied   float64 `json:"copied_byte_seconds"`   // for a byte of a large product's weights
	Small    float64 `json:"small_mac_seconds"`     // for a multiply-accumulate of a small product
	Run      float64 `json:"run_seconds"`           // for a line, or the values of a row of one block, in a small product; for a function of a recurrent operator
	Unfolded float64 `json:"unfolded_byte_seconds"` // for a byte of the values under the windows
}

// block is the side of the blocks into which gonum divides products.
const block = 64

// workload holds the sizes of a kernel that its seconds are proportional to, in the order of
// [Rates.vector].
type workload [7]float64

func (r Rates) vector() workload {
	p := r.Products
	return workload{r.Start, r.MAC, r.Byte, p.Copied, p.Small, p.Run, p.Unfolded}
}

// ratesFrom is the inverse of vector.
func ratesFrom(v []float64, packed int64, nodes int) Rates {
	r := Rates{Start: v[0], MAC: v[1], Byte: v[2], Nodes: nodes}
	if packed > 0 {
		r.Products = ProductRates{Packed: packed, Copied: v[3], Small: v[4], Run: v[5], Unfolded: v[6]}
	}
	return r
}

// sizes returns what the seconds of a kernel are proportional to. Packed is the number of
// multiply-accumulates from which products are packed; 0 if the runtime has one algorithm.
func sizes(k *measurement.Kernel, packed int64) workload {
	macs, bytes := float64(k.MACs), float64(k.Bytes())
	c := workload{1, macs, bytes}
	unfolded := 4 * float64(k.Groups) * float64(k.Depth) * float64(k.Columns)
	if packed == 0 {
		if k.Class == onnx.ClassConv1D || k.Class == onnx.ClassConv3D {
			c[2] += unfolded
		}
		return c
	}
	if k.Class == onnx.ClassRecurrent {
		return recurrentSizes(k, packed)
	}
	parts := max(1, k.Parts)
	if k.Class == onnx.ClassDepthwise || k.Class == onnx.ClassDepthwiseND {
		if c[5] = float64(parts) * float64(k.Window); k.Stride > 1 {
			c[1], c[4] = 0, macs
		}
		return c
	}
	images := max(1, parts/max(1, k.Groups))
	weights := float64(k.Rows) * float64(k.Depth) * float64(images)
	convolution := k.Class != onnx.ClassDense && k.Class != onnx.ClassDense8
	switch {
	case k.MACs/parts >= packed:
		c[3] = 4 * weights
	case convolution:
		c[1], c[4], c[5] = 0, macs, weights*blocks(k.Columns/images)
	default:
		c[1], c[4], c[5] = 0, macs, float64(k.Columns)*float64(k.Depth)*blocks(k.Rows)
	}
	if convolution && (k.Window > 1 || k.Stride > 1) {
		c[6] = unfolded
	}
	return c
}

// recurrentSizes returns the sizes of a recurrent operator in the Go runtime: one product of
// all steps with the weights of the input, a small product in each step with those of the
// state, and the functions of its gates and state.
func recurrentSizes(k *measurement.Kernel, packed int64) (c workload) {
	cell := cells[k.Op]
	if k.Rows < 1 || k.Depth < 1 || cell.gates == 0 {
		return workload{1, float64(k.MACs), float64(k.Bytes())}
	}
	hidden := float64(k.Rows) / cell.gates
	vectors := float64(k.MACs) / (float64(k.Rows) * (float64(k.Depth) + hidden)) // steps of all sequences and directions
	input := vectors * float64(k.Rows) * float64(k.Depth)
	c[4], c[5] = vectors*float64(k.Rows)*hidden, vectors*hidden*cell.functions
	if input >= float64(packed) {
		c[1], c[3] = input, 4*float64(k.Rows)*float64(k.Depth)
	} else {
		c[4] += input
	}
	return c
}

// cells holds the numbers of gates, and of functions of one value of the state, of the
// recurrent operators.
var cells = map[string]struct{ gates, functions float64 }{"LSTM": {4, 5}, "GRU": {3, 3}, "RNN": {1, 1}}

// blocks returns the number of blocks that values are divided into.
func blocks(values int64) float64 { return float64((max(1, values) + block - 1) / block) }

// seconds of one kernel.
func (r Rates) seconds(k *measurement.Kernel) float64 {
	sum := 0.0
	v := r.vector()
	for i, size := range sizes(k, r.Products.Packed) {
		sum += v[i] * size
	}
	return sum
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

// multiplied returns the seconds of a kernel's multiply-accumulates.
func (r Rates) multiplied(k *measurement.Kernel) float64 {
	c := sizes(k, r.Products.Packed)
	return r.MAC*c[1] + r.Products.Small*c[4]
}

// divided reports whether the Go runtime has two algorithms for a class.
func divided(c onnx.Class) bool {
	switch c {
	case onnx.ClassConv, onnx.ClassConv1D, onnx.ClassConv3D, onnx.ClassDense, onnx.ClassConv8, onnx.ClassDense8, onnx.ClassDepthwise, onnx.ClassDepthwiseND, onnx.ClassRecurrent:
		return true
	}
	return false
}

var classes = onnx.Classes()

// substitute is the class whose rates serve for one that was not measured.
var substitute = map[onnx.Class]onnx.Class{
	onnx.ClassVector: onnx.ClassDense, onnx.ClassErf: onnx.ClassFunction, onnx.ClassSoftmax: onnx.ClassFunction, onnx.ClassNormalize: onnx.ClassFunction, onnx.ClassMove: onnx.ClassOther, onnx.ClassResponse: onnx.ClassFunction,
	onnx.ClassConv1D: onnx.ClassConv, onnx.ClassConv3D: onnx.ClassConv, onnx.ClassDepthwiseND: onnx.ClassDepthwise,
	onnx.ClassConv8: onnx.ClassConv, onnx.ClassDense8: onnx.ClassDense,
}

// ratesFor finds the rates of each class from kernels with their times. A class
// without measurements gets those of its kin, or of all kernels together. Packed is as in
// [ProductRates].
func ratesFor(cases []Case, packed int64) map[onnx.Class]Rates {
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
		own := int64(0)
		if divided(class) {
			own = packed
		}
		r, ok := ratesOf(byClass[class], own)
		if !ok {
			if r, ok = ratesOf(byClass[substitute[class]], own); !ok {
				r, _ = ratesOf(all, 0)
			}
			r.Nodes = 0
		}
		rates[class] = r
	}
	for _, class := range classes {
		other := onnx.ClassConv
		if class == onnx.ClassDepthwiseND {
			other = onnx.ClassDepthwise
		}
		rates[class] = rates[class].completed(rates[other])
	}
	return rates
}

// completed takes the rates of an algorithm that no kernel of the class had from another
// class, or, if that has none either, from the algorithm that was measured.
func (r Rates) completed(other Rates) Rates {
	p := &r.Products
	if p.Packed == 0 {
		return r
	}
	if r.MAC == 0 {
		r.MAC, p.Copied = other.MAC, other.Products.Copied
		if r.MAC == 0 {
			r.MAC = p.Small
		}
	}
	if p.Small == 0 {
		p.Small, p.Run = other.Products.Small, other.Products.Run
		if p.Small == 0 {
			p.Small = r.MAC
		}
	}
	return r
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
func ratesOf(kernels []*measurement.Kernel, packed int64) (Rates, bool) {
	r, ok := fitRates(kernels, packed, true)
	if ok && r.MAC == 0 && r.Products.Small == 0 && multiplies(kernels) {
		return fitRates(kernels, packed, false)
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

func fitRates(kernels []*measurement.Kernel, packed int64, bytes bool) (Rates, bool) {
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
			c := sizes(k, packed)
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
		m, err := linear.NNLS{NoIntercept: true}.Fit(context.Background(), s)
		if err != nil {
			return Rates{}, false
		}
		r = ratesFrom(m.Coefficients, packed, len(kernels))
		for i, k := range kernels {
			predicted[i] = max(r.total(k), *k.Seconds/1000)
		}
	}
	return r, true
}
