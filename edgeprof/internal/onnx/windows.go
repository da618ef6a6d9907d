package onnx

import "slices"

// windowOperators slide a window over an image.
var windowOperators = table{
	"CausalConvWithState":      {shape: causalConvolution, work: causalWork},
	"com.microsoft.nchwc.Conv": {shape: convolution, work: convolutionWork, layer: convLayer},
	"com.microsoft.nchwc.MaxPool com.microsoft.nchwc.AveragePool":             {shape: pooling, class: ClassPool, layer: poolLayer},
	"com.microsoft.nchwc.GlobalAveragePool com.microsoft.nchwc.GlobalMaxPool": {shape: globalPool, class: ClassPool, layer: poolLayer},
	"com.microsoft.nchwc.Upsample":                                            {shape: tile, class: ClassMove},
	"com.microsoft.nchwc.ReorderInput":                                        {shape: blocksOfChannels, class: ClassMove},
	"com.microsoft.nchwc.ReorderOutput":                                       {shape: channelsOfBlocks, class: ClassMove},
	"com.microsoft.NhwcMaxPool":                                               {shape: typeOnly, class: ClassPool, layer: poolLayer},
	"Conv":                                                                    {shape: convolution, work: convolutionWork, effort: convolutionEffort, layer: convLayer, opens: scaling},
	"com.microsoft.FusedConv":                                                 {shape: convolution, work: convolutionWork, effort: convolutionEffort, layer: convLayer},
	"ConvInteger":                                                             {shape: convolution, work: convolutionWork, effort: always(13), layer: convLayer, traits: quantizes},
	"QLinearConv":                                                             {shape: convolution, work: convolutionWork, effort: always(1.6), layer: convLayer, traits: quantizes},
	"com.microsoft.QLinearConv":                                               {shape: convolution, work: convolutionWork, effort: always(1.6), layer: convLayer, traits: quantizes},
	"ConvTranspose":                                                           {shape: deconvolution, work: deconvolutionWork, effort: convolutionEffort},
	"MaxPool AveragePool":                                                     {shape: pooling, class: ClassPool, effort: poolEffort, layer: poolLayer},
	"com.microsoft.QLinearAveragePool":                                        {shape: pooling, class: ClassPool, effort: always(220), layer: poolLayer},
	"LpPool":                                                                  {shape: pooling, class: ClassPool, effort: always(200)},
	"GlobalAveragePool":                                                       {shape: globalPool, class: ClassPool, layer: poolLayer},
	"com.microsoft.QLinearGlobalAveragePool":                                  {shape: globalPool, class: ClassPool, effort: always(6), layer: poolLayer},
	"GlobalMaxPool":                                                           {shape: globalPool, class: ClassPool},
	"GlobalLpPool":                                                            {shape: globalPool, class: ClassPool, effort: always(170)},
}

// spatial is the size of a window over one axis after padding and stride, as
// the operators' documentation has it.
type spatial struct{ kernel, stride, dilation, before, after int64 }

func (s spatial) output(size int64, auto string, ceil bool) int64 {
	if s.stride < 1 {
		return -1
	}
	switch auto {
	case "SAME_UPPER", "SAME_LOWER":
		return (size + s.stride - 1) / s.stride
	case "VALID":
		s.before, s.after = 0, 0
	}
	reach := size + s.before + s.after - s.dilation*(s.kernel-1) - 1
	if reach < 0 && size == 0 {
		return 0 // of an empty image
	}
	if reach < 0 {
		return -1
	}
	if ceil {
		out := (reach+s.stride-1)/s.stride + 1
		if (out-1)*s.stride >= size+s.before { // the last window must start inside
			out--
		}
		return out
	}
	return reach/s.stride + 1
}

// least returns the smallest size of an axis that holds a window.
func (s spatial) least(auto string) int64 {
	switch auto {
	case "SAME_UPPER", "SAME_LOWER":
		return 1
	case "VALID":
		s.before, s.after = 0, 0
	}
	return s.dilation*(s.kernel-1) + 1 - s.before - s.after
}

// windows reads kernel_shape, strides, dilations and pads for some axes.
func (c *call) windows(axes int, kernel []int64) []spatial {
	if k := c.node.Ints("kernel_shape"); len(k) == axes {
		kernel = k
	}
	if len(kernel) != axes || axes < 1 {
		return nil
	}
	strides := c.node.Ints("strides")
	dilations := c.node.Ints("dilations")
	pads := c.node.Ints("pads")
	out := make([]spatial, axes)
	for i := range out {
		out[i] = spatial{kernel: kernel[i], stride: 1, dilation: 1}
		if len(strides) == axes {
			out[i].stride = strides[i]
		}
		if len(dilations) == axes {
			out[i].dilation = dilations[i]
		}
		if len(pads) == 2*axes {
			out[i].before, out[i].after = pads[i], pads[axes+i]
		}
	}
	return out
}

// filter returns the index of a convolution's weights among its inputs.
func filter(op string) int {
	if op == "QLinearConv" {
		return 3
	}
	return 1
}

func convolution(c *call) []TensorInfo {
	x, w := c.input(0), c.input(filter(c.node.Op))
	kind := x.Type
	switch c.node.Op {
	case "ConvInteger":
		kind = Int32
	case "QLinearConv":
		kind = c.input(7).Type
	}
	if !x.Known || !w.Known || len(x.Shape) < 3 || len(w.Shape) != len(x.Shape) {
		return withType(kind)
	}
	if channels := w.Shape[1] * c.node.Int("group", 1); c.node.standard() && channels > 0 && channels != x.Shape[1] {
		c.refuse("the image has %d channels, the weights %d", x.Shape[1], channels)
	}
	windows := c.windows(len(x.Shape)-2, w.Shape[2:])
	if windows == nil {
		return withType(kind)
	}
	shape := []int64{x.Shape[0], w.Shape[0]}
	for i, s := range windows {
		c.atLeast(2+i, x.Shape[2+i], s.least(c.node.Text("auto_pad")))
		shape = append(shape, s.output(x.Shape[2+i], c.node.Text("auto_pad"), false))
	}
	return withShape(kind, shape...)
}

func deconvolution(c *call) []TensorInfo {
	x, w := c.input(0), c.input(1)
	if !x.Known || !w.Known || len(x.Shape) < 3 || len(w.Shape) != len(x.Shape) {
		return withType(x.Type)
	}
	axes := len(x.Shape) - 2
	windows := c.windows(axes, w.Shape[2:])
	if windows == nil {
		return withType(x.Type)
	}
	stated, extra := c.node.Ints("output_shape"), c.node.Ints("output_padding")
	shape := []int64{x.Shape[0], w.Shape[1] * c.node.Int("group", 1)}
	for i, s := range windows {
		size := s.stride*(x.Shape[2+i]-1) + (s.kernel-1)*s.dilation + 1 - s.before - s.after
		if len(extra) == axes {
			size += extra[i]
		}
		if auto := c.node.Text("auto_pad"); auto == "SAME_UPPER" || auto == "SAME_LOWER" {
			size = x.Shape[2+i] * s.stride
		}
		if len(stated) >= axes {
			size = stated[len(stated)-axes+i]
		}
		shape = append(shape, size)
	}
	return withShape(x.Type, shape...)
}

func pooling(c *call) []TensorInfo {
	x := c.input(0)
	windows := c.windows(len(x.Shape)-2, nil)
	if !x.Known || windows == nil {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape[:2])
	for i, s := range windows {
		c.atLeast(2+i, x.Shape[2+i], s.least(c.node.Text("auto_pad")))
		shape = append(shape, s.output(x.Shape[2+i], c.node.Text("auto_pad"), c.node.Int("ceil_mode", 0) == 1))
	}
	return append(withShape(x.Type, shape...), withShape(Int64, shape...)...)
}

func globalPool(c *call) []TensorInfo {
	x := c.input(0)
	if !x.Known || len(x.Shape) < 2 {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape)
	for i := 2; i < len(shape); i++ {
		shape[i] = 1
	}
	return withShape(x.Type, shape...)
}

func convolutionWork(n *Node, in inputs, out TensorInfo) (Class, []int64) {
	w := in.shape(filter(n.Op))
	if len(w) < 2 {
		return ClassConv, nil
	}
	return convolutionClass(w, n.Int("group", 1) > 1 && w[1] == 1), append(slices.Clone(w[1:]), out.Elements())
}

// convolutionClass returns the class of a convolution with weights [filters, channels,
// window...]. A window of one value is a matrix product in any number of dimensions.
func convolutionClass(weights []int64, depthwise bool) Class {
	cells, _ := product(weights[2:])
	dimensions := len(weights) - 2
	switch {
	case dimensions == 2 && depthwise:
		return ClassDepthwise
	case dimensions == 2, !depthwise && cells == 1:
		return ClassConv
	case depthwise:
		return ClassDepthwiseND
	case dimensions < 2:
		return ClassConv1D
	}
	return ClassConv3D
}

func deconvolutionWork(_ *Node, in inputs, _ TensorInfo) (Class, []int64) {
	w := in.shape(1)
	if len(w) < 2 {
		return ClassConv, nil
	}
	return convolutionClass(w, false), append(slices.Clone(w[1:]), in.input(0).Elements())
}

// causalConvolution has input [batch, channels, length], weights [channels, 1, window] and
// the last values of the channels as its state.
func causalConvolution(c *call) []TensorInfo {
	x, w := c.input(0), c.input(1)
	out := TensorInfo{Type: x.Type, Known: x.Known, Shape: x.Shape}
	if !x.Known || !w.Known || len(x.Shape) != 3 || len(w.Shape) != 3 {
		return []TensorInfo{out}
	}
	return append([]TensorInfo{out}, withShape(x.Type, x.Shape[0], x.Shape[1], w.Shape[2]-1)...)
}

func causalWork(_ *Node, in inputs, out TensorInfo) (Class, []int64) {
	w := in.shape(1)
	if len(w) != 3 {
		return ClassDepthwise, nil
	}
	return ClassDepthwise, []int64{w[2], out.Elements()}
}

// vectorWidth is the number of filters that ONNX Runtime computes at once with AVX-512.
const vectorWidth = 16

// blocksOfChannels returns the shape of an image whose channels ONNX Runtime has brought into
// blocks, as it writes them into optimised files (onnxruntime/core/graph/contrib_ops/
// nchwc_schema_defs.cc of microsoft/onnxruntime).
func blocksOfChannels(c *call) []TensorInfo {
	x := c.input(0)
	if !x.Known || len(x.Shape) < 2 {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape)
	n := len(shape)
	if c.node.Int("channels_last", 0) == 1 {
		shape = slices.Insert(shape[:n-1:n-1], 1, shape[n-1])
	}
	shape[1] = (shape[1] + vectorWidth - 1) / vectorWidth * vectorWidth
	return withShape(x.Type, shape...)
}

// channelsOfBlocks reverses it: the number of channels is an attribute.
func channelsOfBlocks(c *call) []TensorInfo {
	x := c.input(0)
	if !x.Known || len(x.Shape) < 2 {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape)
	shape[1] = c.node.Int("channels", shape[1])
	if c.node.Int("channels_last", 0) == 1 {
		channels := shape[1]
		shape = append(slices.Delete(shape, 1, 2), channels)
	}
	return withShape(x.Type, shape...)
}
