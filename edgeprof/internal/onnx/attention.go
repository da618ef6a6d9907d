package onnx

import "slices"

// attentionOperators weigh the values of a sequence.
var attentionOperators = table{
	"com.microsoft.Attention":                       {shape: attention, work: attentionWork},
	"com.microsoft.QAttention":                      {shape: attention, work: attentionWork, traits: quantizes},
	"com.microsoft.MultiHeadAttention":              {shape: multiHead, work: multiHeadWork},
	"com.microsoft.EmbedLayerNormalization":         {shape: embed, class: ClassNormalize},
	"RotaryEmbedding com.microsoft.RotaryEmbedding": {shape: first},
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

func attentionWork(_ *Node, in inputs, _ Shaped) (Class, []int64) {
	x, w := in.shape(0), in.shape(1)
	if len(x) != 3 || len(w) != 2 {
		return ClassDense, nil
	}
	return ClassDense, []int64{x[0], x[1], x[2]*w[1] + 2*x[1]*w[1]/3}
}

func multiHeadWork(_ *Node, in inputs, _ Shaped) (Class, []int64) {
	q, k := in.shape(0), in.shape(1)
	if len(q) != 3 || len(k) != 3 {
		return ClassDense, nil
	}
	return ClassDense, []int64{2, q[0], q[1], k[1], q[2]}
}
