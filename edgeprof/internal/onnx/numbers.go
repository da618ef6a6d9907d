package onnx

import "cmp"

// Real numbers of other types than float32 in ONNX Runtime.

// doubleEfforts holds the factors for operators on float64 that have vector code for float32
// only. Others take as long for each byte. They were measured with one thread of ONNX Runtime
// 1.32 on tensors of 0.2 to 3 MB, as the efforts of the same operators on float32 were.
var doubleEfforts = map[string]float64{"Exp": 24, "Sigmoid": 13.5, "Tanh": 6, "Sqrt": 2.8, "Log": 1.9}

// normalizeCast is the effort of a cast by the rates of normalization, which goes over its
// bytes several times.
const normalizeCast = 0.2

// half reports whether a type has the 16 bits of a real number.
func half(t DataType) bool { return t == Float16 || t == BFloat16 }

// keepsHalf reports whether ONNX Runtime runs a node on numbers of 16 bits as they are: it
// moves them, changes their type, or computes in the kernel. It runs the others in float32,
// with casts around each chain of them.
func (c *Cost) keepsHalf() bool {
	if operators[c.node.operator()].shape == nil || controls(c.node) {
		return true
	}
	switch c.node.Op {
	case "Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "LayerNormalization", "SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization":
		return true
	}
	return c.Class == ClassMove
}

// widen makes a kernel on numbers of 16 bits one on float32, and adds the bytes of the casts
// between them.
func (j *joiner) widen(c *Cost, k *Kernel) {
	if len(c.Inputs) == 0 || !half(c.Inputs[0].Type) {
		return
	}
	kept, cast := c.keepsHalf(), int64(0)
	for i, name := range c.node.Inputs {
		if s := c.Inputs[i]; half(s.Type) && !s.Constant && j.widened[name] == kept {
			cast += 3 * max(0, s.Bytes()) // for each 2 bytes of a value, 4 bytes of its float32
		}
	}
	for i, name := range c.node.Outputs {
		if i >= len(c.Outputs) || !half(c.Outputs[i].Type) {
			continue
		}
		j.widened[name] = !kept
		if !kept && j.results[name] {
			cast += 3 * max(0, c.Outputs[i].Bytes())
		}
	}
	if !kept {
		k.ReadBytes, k.ParameterBytes, k.WrittenBytes = 2*k.ReadBytes, 2*k.ParameterBytes, 2*k.WrittenBytes
	}
	if own := k.Bytes(); own > 0 && k.MACs == 0 {
		each := 1.0
		if k.Class == ClassNormalize {
			each = normalizeCast
		}
		k.Effort = (cmp.Or(k.Effort, 1)*float64(own) + each*float64(cast)) / float64(own+cast)
	}
	k.ReadBytes += cast
}
