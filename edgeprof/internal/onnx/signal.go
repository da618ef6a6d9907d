package onnx

import "math/bits"

// signalOperators analyse sounds.
var signalOperators = table{
	"DFT":             {shape: fourier, class: ClassNormalize, reads: fourierReads},
	"STFT":            {shape: shortFourier, class: ClassNormalize, reads: shortFourierReads},
	"MelWeightMatrix": {shape: melWeights},
	"HannWindow HammingWindow BlackmanWindow": {shape: signalWindow, class: ClassFunction},
}

// transformBytes returns what the passes of a fast Fourier transform of complex numbers
// read and write: by powers of two, or by three of at least twice the length (Bluestein's
// algorithm), as ONNX Runtime does.
func transformBytes(length int64) int64 {
	if length < 2 || length > 1<<40 {
		return 16
	}
	if length&(length-1) == 0 {
		return 16 * length * int64(bits.Len64(uint64(length))-1)
	}
	power := bits.Len64(uint64(2*length - 2))
	return 3 * 16 * (int64(1) << power) * int64(power)
}

// fourierAxis is the axis of a DFT: an attribute, or, since version 20, an input.
func fourierAxis(n *Node, in inputs) (int, bool) {
	a := n.Int("axis", -2)
	if len(n.Inputs) > 2 && n.Inputs[2] != "" {
		if len(in.input(2).Value) != 1 {
			return 0, false
		}
		a = in.input(2).Value[0]
	}
	return axis(a, len(in.shape(0)))
}

// fourierLength is the length of a transform, and false where it is not known.
func fourierLength(n *Node, in inputs) (at int, length int64, ok bool) {
	if len(in) == 0 || !in.input(0).Known || len(in.input(0).Shape) < 2 {
		return 0, 0, false
	}
	if at, ok = fourierAxis(n, in); !ok {
		return 0, 0, false
	}
	length = in.input(0).Shape[at]
	if len(n.Inputs) > 1 && n.Inputs[1] != "" {
		if len(in.input(1).Value) != 1 {
			return at, 0, false
		}
		length = in.input(1).Value[0]
	}
	return at, length, true
}

func fourier(c *call) []TensorInfo {
	x := c.input(0)
	at, length, ok := fourierLength(c.node, c.inputs)
	if !ok {
		return typed(x.Type)
	}
	shape := append([]int64{}, x.Shape...)
	shape[at], shape[len(shape)-1] = length, 2
	if c.node.Int("onesided", 0) == 1 {
		if c.node.Int("inverse", 0) == 1 {
			if shape[at] = 2 * (length - 1); c.given(1) {
				shape[at] = length
			}
			shape[len(shape)-1] = 1
		} else {
			shape[at] = length/2 + 1
		}
	}
	return shaped(x.Type, shape...)
}

func fourierReads(n *Node, in inputs, _ TensorInfo) []int64 {
	at, length, ok := fourierLength(n, in)
	if !ok {
		return nil
	}
	transforms := int64(1)
	for i, size := range in.input(0).Shape[:len(in.input(0).Shape)-1] {
		if i != at {
			transforms *= size
		}
	}
	return []int64{transforms, transformBytes(length)}
}

// shortFourierSizes are the frames of a signal [batch, length, 1 or 2], and their length.
func shortFourierSizes(n *Node, in inputs) (batch, frames, length int64, ok bool) {
	x := in.shape(0)
	if len(x) < 2 || len(in) < 2 || len(in.input(1).Value) != 1 || in.input(1).Value[0] < 1 {
		return 0, 0, 0, false
	}
	switch window := in.shape(2); {
	case len(in) > 3 && n.Inputs[3] != "" && len(in.input(3).Value) == 1:
		length = in.input(3).Value[0]
	case len(window) == 1:
		length = window[0]
	default:
		return 0, 0, 0, false
	}
	if length < 1 || length > x[1] {
		return 0, 0, 0, false
	}
	return x[0], (x[1]-length)/in.input(1).Value[0] + 1, length, true
}

func shortFourier(c *call) []TensorInfo {
	batch, frames, length, ok := shortFourierSizes(c.node, c.inputs)
	if !ok {
		return typed(c.input(0).Type)
	}
	values := length
	if c.node.Int("onesided", 1) == 1 {
		values = length/2 + 1
	}
	return shaped(c.input(0).Type, batch, frames, values, 2)
}

func shortFourierReads(n *Node, in inputs, _ TensorInfo) []int64 {
	batch, frames, length, ok := shortFourierSizes(n, in)
	if !ok {
		return nil
	}
	return []int64{batch, frames, transformBytes(length)}
}

func melWeights(c *call) []TensorInfo {
	kind := DataType(c.node.Int("output_datatype", int64(Float32)))
	bins, length := c.input(0).Value, c.input(1).Value
	if len(bins) != 1 || len(length) != 1 {
		return typed(kind)
	}
	return shaped(kind, length[0]/2+1, bins[0])
}

func signalWindow(c *call) []TensorInfo {
	kind := DataType(c.node.Int("output_datatype", int64(Float32)))
	if size := c.input(0).Value; len(size) == 1 {
		return shaped(kind, size[0])
	}
	return typed(kind)
}
