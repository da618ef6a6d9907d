package onnx

// Real numbers of other types than float32 in ONNX Runtime.

// doubleEfforts holds the factors for operators on float64 that have vector code for float32
// only. Others take as long for each byte. They were measured with one thread of ONNX Runtime
// 1.32 on tensors of 0.2 to 3 MB, as the efforts of the same operators on float32 were.
var doubleEfforts = map[string]float64{"Exp": 24, "Sigmoid": 13.5, "Tanh": 6, "Sqrt": 2.8, "Log": 1.9}

// halfEffort is the effort of an operator on numbers of 16 bits, by their bytes: ONNX Runtime
// makes them float32 around each chain of operators, which takes 2 to 5 times as long.
const halfEffort = 3

// half reports whether a type has the 16 bits of a real number.
func half(t DataType) bool { return t == Float16 || t == BFloat16 }

// widens reports whether ONNX Runtime runs a node on numbers of 16 bits in float32. It runs the
// others as they are: they move the numbers, change their type, or compute in the kernel.
func (c *Cost) widens() bool {
	if len(c.Inputs) == 0 || !half(c.Inputs[0].Type) || operators[c.node.operator()].shape == nil || controls(c.node) {
		return false
	}
	switch c.node.Op {
	case "Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "LayerNormalization", "SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization":
		return false
	}
	return c.Class != ClassMove && c.MACs == 0
}
