package onnx

import "slices"

// microsoftDomain is that of ONNX Runtime's own operators
// (docs/ContribOperators.md of microsoft/onnxruntime), which its tools write
// into files that they quantise or optimise.
const microsoftDomain = "com.microsoft"

// microsoft are the rules of those operators whose cost is known.
var microsoft = map[string]rule{
	"FusedConv": convolution, "QLinearConv": convolution, "FusedGemm": gemm, "QGemm": gemm,
	"FusedMatMul": fusedMatMul, "TransposeMatMul": fusedMatMul, "MatMulIntegerToFloat": matMul, "DynamicQuantizeMatMul": matMul, "MatMulNBits": matMulBits,
	"Gelu": first, "FastGelu": first, "BiasGelu": first, "QuickGelu": first, "SkipLayerNormalization": first, "SkipSimplifiedLayerNormalization": first,
	"SimplifiedLayerNormalization": first, "LayerNormalization": first, "RotaryEmbedding": first, "QLinearSigmoid": first, "QLinearLeakyRelu": first, "QLinearSoftmax": first,
	"EmbedLayerNormalization": embed, "Attention": attention, "QAttention": attention, "MultiHeadAttention": multiHead,
	"QLinearAdd": quantizedPair, "QLinearMul": quantizedPair, "QLinearConcat": quantizedConcat, "QLinearAveragePool": pooling, "QLinearGlobalAveragePool": globalPool,
	"QuantizeLinear": quantize, "DequantizeLinear": dequantize,
}

// fusedMatMul is a product of matrices that may be transposed.
func fusedMatMul(c *call) []Shaped {
	turned := *c
	turned.inputs = slices.Clone(c.inputs)
	for i, name := range []string{"transA", "transB"} {
		if i < len(turned.inputs) && c.node.Int(name, 0) == 1 {
			turned.inputs[i] = swapped(turned.inputs[i])
		}
	}
	return matMul(&turned)
}

// swapped has the last two axes in the other order.
func swapped(s Shaped) Shaped {
	if n := len(s.Shape); s.Known && n > 1 {
		s.Shape = slices.Clone(s.Shape)
		s.Shape[n-1], s.Shape[n-2] = s.Shape[n-2], s.Shape[n-1]
	}
	return s
}

func matMulBits(c *call) []Shaped {
	x := c.input(0)
	if !x.Known || len(x.Shape) == 0 {
		return typed(x.Type)
	}
	return shaped(x.Type, append(slices.Clone(x.Shape[:len(x.Shape)-1]), c.node.Int("N", 0))...)
}

// embed has ids [batch, steps] and, as its third input, words [number, hidden].
func embed(c *call) []Shaped {
	ids, words := c.input(0), c.input(2)
	if !ids.Known || !words.Known || len(words.Shape) != 2 {
		return typed(words.Type)
	}
	return shaped(words.Type, append(slices.Clone(ids.Shape), words.Shape[1])...)
}

// attention has input [batch, steps, hidden] and weights [hidden, 3 x heads].
func attention(c *call) []Shaped {
	x, w := c.input(0), c.input(1)
	if !x.Known || !w.Known || len(x.Shape) != 3 || len(w.Shape) != 2 {
		return typed(x.Type)
	}
	return shaped(Float32, x.Shape[0], x.Shape[1], w.Shape[1]/3)
}

// multiHead has query [batch, steps, hidden] and value [batch, others, hidden].
func multiHead(c *call) []Shaped {
	q, v := c.input(0), c.input(2)
	if !q.Known || !v.Known || len(q.Shape) != 3 || len(v.Shape) != 3 {
		return typed(q.Type)
	}
	return shaped(q.Type, q.Shape[0], q.Shape[1], v.Shape[2])
}

// quantizedPair has each tensor followed by its scale and zero point.
func quantizedPair(c *call) []Shaped {
	shape, ok := broadcast(c.input(0), c.input(3))
	return []Shaped{{Type: c.input(0).Type, Known: ok, Shape: shape}}
}

func quantizedConcat(c *call) []Shaped {
	var tensors []Shaped
	for i := 2; i < len(c.inputs); i += 3 {
		tensors = append(tensors, c.inputs[i])
	}
	return joined(c, tensors)
}

// microsoftWork is [work] for these operators; false for one that is not known.
func microsoftWork(n *Node, in []Shaped, out Shaped) (Class, []int64, bool) {
	shape := func(i int) []int64 {
		if i < len(in) {
			return in[i].Shape
		}
		return nil
	}
	switch n.Op {
	case "Attention", "QAttention":
		x, w := shape(0), shape(1)
		if len(x) != 3 || len(w) != 2 {
			return ClassDense, []int64{0}, true
		}
		return ClassDense, []int64{x[0], x[1], x[2]*w[1] + 2*x[1]*w[1]/3}, true
	case "MultiHeadAttention":
		q, k := shape(0), shape(1)
		if len(q) != 3 || len(k) != 3 {
			return ClassDense, []int64{0}, true
		}
		return ClassDense, []int64{2, q[0], q[1], k[1], q[2]}, true
	case "MatMulNBits":
		return products(out), []int64{n.Int("K", 0), out.Elements()}, true
	case "Gelu", "BiasGelu":
		return ClassErf, []int64{0}, true
	case "FastGelu", "QuickGelu", "QLinearSigmoid":
		return ClassFunction, []int64{0}, true
	case "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization", "LayerNormalization", "EmbedLayerNormalization":
		return ClassNormalize, []int64{0}, true
	case "QLinearSoftmax":
		return ClassSoftmax, []int64{0}, true
	case "QLinearConcat":
		return ClassMove, []int64{0}, true
	case "QLinearAveragePool", "QLinearGlobalAveragePool":
		return ClassPool, []int64{0}, true
	}
	return ClassOther, []int64{0}, microsoft[n.Op] != nil
}

// likeStandard says that an operator is a product of two like one of ONNX's own.
func likeStandard(op string) bool {
	return slices.Contains([]string{"FusedConv", "QLinearConv", "FusedGemm", "QGemm", "FusedMatMul", "TransposeMatMul", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"}, op)
}
