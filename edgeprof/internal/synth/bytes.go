package synth

import "github.com/foretime/foretime/edgeprof/internal/onnx"

// byteChain returns Depth drawn convolutions and then Depth matrix products of whole numbers of
// 8 bits, over an image of Resolution values a side.
func byteChain(b *builder, s Size) tensor {
	c := b.chain(s)
	x := b.input("input", s.Batch, 16, s.Resolution, s.Resolution)
	scale := b.scalar(0.05)
	zero := b.byteWeight("zero_u", onnx.Uint8)
	middle := b.byteWeight("zero_i", onnx.Int8)
	x = b.add("QuantizeLinear", x.shape, []string{x.name, scale, zero})
	for range s.Depth {
		w := window{[]int64{1, 3, 3}[c.IntN(3)], 1, 0}
		w.pad = w.kernel / 2
		weights := x.channels() * w.kernel * w.kernel
		filters := c.units(16, 256, weights*x.shape[2]*x.shape[3], weights)
		inputs := []string{x.name, scale, zero, b.byteWeight("conv_w", onnx.Int8, filters, x.channels(), w.kernel, w.kernel), scale, middle, scale, zero}
		x = b.add("QLinearConv", []int64{s.Batch, filters, x.shape[2], x.shape[3]}, inputs, w.attributes()...)
	}
	x = b.reshape(x, s.Batch*x.channels(), x.shape[2]*x.shape[3])
	for range s.Depth {
		columns := c.units(32, 2048, x.shape[0]*x.shape[1], x.shape[1])
		inputs := []string{x.name, scale, zero, b.byteWeight("linear_w", onnx.Int8, x.shape[1], columns), scale, middle, scale, zero}
		x = b.add("QLinearMatMul", []int64{x.shape[0], columns}, inputs)
	}
	rows := x.shape[0] / s.Batch
	x = b.reshape(b.add("DequantizeLinear", x.shape, []string{x.name, scale, zero}), s.Batch, rows, x.shape[1])
	mean := b.add("ReduceMean", []int64{s.Batch, x.shape[2]}, []string{x.name}, onnx.IntsAttribute("axes", 1), onnx.IntAttribute("keepdims", 0))
	return b.softmax(b.dense(mean, s.Classes))
}

// byteWeight adds an initializer of whole numbers of 8 bits; a scalar is 0.
func (b *builder) byteWeight(role string, kind onnx.DataType, shape ...int64) string {
	name := b.weight(role, shape...)
	t := &b.m.Graph.Initializers[len(b.m.Graph.Initializers)-1]
	t.Type, t.Stored = kind, t.Stored/4
	if len(shape) == 0 {
		t.Dims, t.Data = []int64{}, []byte{0}
	}
	return name
}
