package synth

import "github.com/foretime/foretime/edgeprof/internal/onnx"

// convolutionND returns a convolution with bias whose window has the same size, stride and
// padding in each dimension.
func (b *builder) convolutionND(x tensor, filters, groups int64, w window) tensor {
	dimensions := len(x.shape) - 2
	weights, shape := []int64{filters, x.channels() / groups}, []int64{x.shape[0], filters}
	var kernel, strides, pads []int64
	for _, size := range x.shape[2:] {
		weights, shape = append(weights, w.kernel), append(shape, w.over(size))
		kernel, strides = append(kernel, w.kernel), append(strides, w.stride)
	}
	for range 2 * dimensions {
		pads = append(pads, w.pad)
	}
	inputs := []string{x.name, b.weight("conv_w", weights...), b.weight("bias", filters)}
	return b.add("Conv", shape, inputs, onnx.IntsAttribute("kernel_shape", kernel...), onnx.IntsAttribute("strides", strides...), onnx.IntsAttribute("pads", pads...), onnx.IntAttribute("group", groups))
}

// convolutions returns Depth drawn convolutions over any number of dimensions, a quarter of
// them with one channel a group.
func (c chain) convolutions(x tensor, s Size, kernels []int64) tensor {
	for range s.Depth {
		w := window{kernels[c.IntN(len(kernels))], 1, 0}
		w.pad = w.kernel / 2
		if x.shape[2] >= 8 && c.chance(0.25) {
			w.stride = 2
		}
		macs, weights := int64(1), int64(1)
		for _, size := range x.shape[2:] {
			macs, weights = macs*w.kernel*w.over(size), weights*w.kernel
		}
		if c.chance(0.25) {
			x = c.activation(c.convolutionND(x, x.channels(), x.channels(), w))
		} else {
			x = c.activation(c.convolutionND(x, c.units(8, 256, x.channels()*macs, x.channels()*weights), 1, w))
		}
	}
	shape := []int64{x.shape[0], x.channels()}
	for range x.shape[2:] {
		shape = append(shape, 1)
	}
	mean := c.add("GlobalAveragePool", shape, []string{x.name})
	return c.softmax(c.dense(c.flatten(mean), s.Classes))
}
