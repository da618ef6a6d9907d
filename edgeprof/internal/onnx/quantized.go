package onnx

import "slices"

// quantizedOperators work on whole numbers of 8 bits.
var quantizedOperators = table{
	"DequantizeLinear com.microsoft.DequantizeLinear": {shape: dequantize, traits: quantizes | passes},
	"QuantizeLinear com.microsoft.QuantizeLinear":     {shape: quantize, traits: quantizes | passes},
	"DynamicQuantizeLinear":                           {shape: func(c *call) []TensorInfo { return slices.Concat(as(c, Uint8), withShape(Float32), withShape(Uint8)) }, traits: quantizes},
	"com.microsoft.QLinearSigmoid":                    {shape: first, class: ClassFunction, effort: always(19)},
	"com.microsoft.QLinearSoftmax":                    {shape: first, class: ClassSoftmax, effort: always(40)},
	"com.microsoft.QLinearConcat":                     {shape: quantizedConcat, class: ClassMove, effort: always(2)},
	"com.microsoft.QLinearAdd":                        {shape: quantizedPair, effort: always(4.4)},
	"com.microsoft.QLinearMul":                        {shape: quantizedPair, effort: always(7)},
	"com.microsoft.QLinearReduceMean":                 {shape: reduction, class: ClassNormalize},
	"com.microsoft.QLinearWhere":                      {shape: quantizedWhere, effort: always(90)},
	"com.microsoft.QEmbedLayerNormalization":          {shape: embed, class: ClassNormalize},
	"com.microsoft.QLinearLeakyRelu":                  {shape: first, effort: always(11)},
}

func dequantize(c *call) []TensorInfo { return as(c, c.input(1).Type) }

func quantize(c *call) []TensorInfo {
	if kind := c.node.Int("output_dtype", 0); kind > 0 {
		return as(c, DataType(kind))
	}
	if c.given(2) {
		return as(c, c.input(2).Type)
	}
	return as(c, Uint8)
}

// quantizedPair has each tensor followed by its scale and zero point.
func quantizedPair(c *call) []TensorInfo {
	shape, ok := broadcast(c.input(0), c.input(3))
	return []TensorInfo{{Type: c.input(0).Type, Known: ok, Shape: shape}}
}

func quantizedConcat(c *call) []TensorInfo {
	var tensors []TensorInfo
	for i := 2; i < len(c.inputs); i += 3 {
		tensors = append(tensors, c.inputs[i])
	}
	return joinTensors(c, tensors)
}

// quantizedWhere has a condition, then each tensor followed by its scale and zero point.
func quantizedWhere(c *call) []TensorInfo {
	shape, ok := broadcast(c.input(0), c.input(1), c.input(4))
	return []TensorInfo{{Type: c.input(1).Type, Known: ok, Shape: shape}}
}
