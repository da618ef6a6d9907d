package onnx

import (
	"cmp"
	"slices"
)

// attentionOperators weigh the values of a sequence: ONNX's own since version 23, and
// those of ONNX Runtime.
var attentionOperators = table{
	"Attention":                                     {shape: standardAttention, work: standardAttentionWork},
	"TensorScatter":                                 {shape: first, class: ClassMove},
	"com.microsoft.Attention":                       {shape: attention, work: attentionWork},
	"com.microsoft.QAttention":                      {shape: attention, work: attentionWork, traits: quantizes},
	"com.microsoft.MultiHeadAttention":              {shape: multiHead, work: multiHeadWork},
	"com.microsoft.GroupQueryAttention":             {shape: groupQuery, work: groupQueryWork},
	"com.microsoft.EmbedLayerNormalization":         {shape: embed, class: ClassNormalize},
	"RotaryEmbedding com.microsoft.RotaryEmbedding": {shape: first, class: ClassNormalize, effort: always(0.28)},
}

// heads is the shape of one side of an attention: queries, or keys and values.
type heads struct{ batch, count, steps, size int64 }

// products returns the multiply-accumulates of queries with keys, and of their weights with
// values, whose heads have another size. One step is a matrix by a vector.
func (q heads) products(steps, values int64) (Class, []int64) {
	class := ClassDense
	if q.steps == 1 {
		class = ClassVector
	}
	return class, []int64{q.batch, q.count, q.steps, steps, q.size + values}
}

// headsOf reads a tensor of [batch, heads, steps, size], or [batch, steps, heads*size]
// with a number of heads.
func headsOf(x TensorInfo, count int64) (heads, bool) {
	s := x.Shape
	switch {
	case x.Known && len(s) == 4:
		return heads{s[0], s[1], s[2], s[3]}, true
	case x.Known && len(s) == 3 && count > 0 && s[2]%count == 0:
		return heads{s[0], count, s[1], s[2] / count}, true
	}
	return heads{}, false
}

// standardSides returns the queries, keys and values of ONNX's Attention, those of earlier
// steps included.
func standardSides(n *Node, in inputs) (q, k, v heads, ok bool) {
	q, okQ := headsOf(in.input(0), n.Int("q_num_heads", 0))
	k, okK := headsOf(in.input(1), n.Int("kv_num_heads", 0))
	v, okV := headsOf(in.input(2), n.Int("kv_num_heads", 0))
	past := in.input(4)
	if len(n.Inputs) > 4 && n.Inputs[4] != "" {
		if !past.Known || len(past.Shape) != 4 {
			return q, k, v, false
		}
		k.steps += past.Shape[2]
		v.steps += past.Shape[2]
	}
	return q, k, v, okQ && okK && okV
}

func standardAttention(c *call) []TensorInfo {
	x := c.input(0)
	q, k, v, ok := standardSides(c.node, c.inputs)
	if !ok {
		return withType(x.Type)
	}
	y := []int64{q.batch, q.count, q.steps, v.size}
	if len(x.Shape) == 3 {
		y = []int64{q.batch, q.steps, q.count * v.size}
	}
	return slices.Concat(
		withShape(x.Type, y...), withShape(c.input(1).Type, k.batch, k.count, k.steps, k.size), withShape(c.input(2).Type, v.batch, v.count, v.steps, v.size),
		withShape(x.Type, q.batch, q.count, q.steps, k.steps),
	)
}

func standardAttentionWork(n *Node, in inputs, _ TensorInfo) (Class, []int64) {
	q, k, v, ok := standardSides(n, in)
	if !ok {
		return ClassDense, nil
	}
	return q.products(k.steps, v.size)
}

// embed has ids [batch, steps] and, as its third input, words [number, hidden].
func embed(c *call) []TensorInfo {
	ids, words := c.input(0), c.input(2)
	if !ids.Known || !words.Known || len(words.Shape) != 2 {
		return withType(words.Type)
	}
	embedded := withShape(words.Type, append(slices.Clone(ids.Shape), words.Shape[1])...)
	return slices.Concat(embedded, withShape(Int32, ids.Shape[:min(1, len(ids.Shape))]...), embedded)
}

// attentionSizes returns the sizes of ONNX Runtime's Attention: input [batch, steps, hidden],
// weights [hidden, queries + keys + values], and earlier steps [2, batch, heads, steps,
// size].
func attentionSizes(n *Node, in inputs) (x []int64, all, values, past int64, ok bool) {
	x, w := in.shape(0), in.shape(1)
	if len(x) != 3 || len(w) != 2 {
		return nil, 0, 0, 0, false
	}
	values = w[1] / 3
	if sizes := n.Ints("qkv_hidden_sizes"); len(sizes) == 3 {
		values = sizes[2]
	}
	index := 4
	if n.Op == "QAttention" {
		index = 8
	}
	if p := in.shape(index); len(p) == 5 {
		past = p[3]
	}
	return x, w[1], values, past, true
}

func attention(c *call) []TensorInfo {
	x, _, values, past, ok := attentionSizes(c.node, c.inputs)
	if !ok {
		return withType(Float32)
	}
	count := max(1, c.node.Int("num_heads", 1))
	return append(withShape(Float32, x[0], x[1], values), withShape(Float32, 2, x[0], count, past+x[1], values/count)...)
}

func attentionWork(n *Node, in inputs, _ TensorInfo) (Class, []int64) {
	x, all, values, past, ok := attentionSizes(n, in)
	if !ok {
		return ClassDense, nil
	}
	// the projections, then queries with keys and weights with values
	return ClassDense, []int64{x[0], x[1], x[2]*all + (x[1]+past)*(all-values)/2 + (x[1]+past)*values}
}

// multiHeadSides returns the sizes of ONNX Runtime's MultiHeadAttention: a query [batch, steps,
// hidden] or all three packed as [batch, steps, heads, 3, size], keys like it, packed with
// the values as [batch, steps, heads, 2, size], or [batch, heads, steps, size].
func multiHeadSides(n *Node, in inputs) (q heads, steps, values int64, ok bool) {
	count := n.Int("num_heads", 0)
	switch x := in.shape(0); {
	case len(x) == 5:
		return heads{x[0], x[2], x[1], x[4]}, x[1], x[4], true
	case len(x) != 3 || count < 1:
		return q, 0, 0, false
	default:
		q = heads{x[0], count, x[1], x[2] / count}
	}
	switch k, v := in.shape(1), in.shape(2); {
	case len(k) == 5:
		steps, values = k[1], k[4]
	case len(k) == 4 && len(v) == 4:
		steps, values = k[2], v[3]
	case len(k) == 3 && len(v) == 3:
		steps, values = k[1], v[2]/count
	default:
		return q, 0, 0, false
	}
	if past := in.shape(6); len(past) == 4 {
		steps += past[2]
	}
	return q, steps, values, true
}

func multiHead(c *call) []TensorInfo {
	kind := c.input(0).Type
	q, steps, values, ok := multiHeadSides(c.node, c.inputs)
	if !ok {
		return withType(kind)
	}
	return slices.Concat(withShape(kind, q.batch, q.steps, q.count*values), withShape(kind, q.batch, q.count, steps, q.size), withShape(kind, q.batch, q.count, steps, values))
}

func multiHeadWork(n *Node, in inputs, _ TensorInfo) (Class, []int64) {
	q, steps, values, ok := multiHeadSides(n, in)
	if !ok {
		return ClassDense, nil
	}
	return q.products(steps, values)
}

// groupQuerySides returns the sizes of ONNX Runtime's GroupQueryAttention: a query [batch, steps,
// hidden], with keys and values packed behind it where these are left out, and earlier
// steps [batch, heads, steps, size] in a buffer that may have room for later ones. Its
// seventh input is the number of steps.
func groupQuerySides(n *Node, in inputs) (q heads, groups, steps, buffer int64, ok bool) {
	count, groups := n.Int("num_heads", 0), n.Int("kv_num_heads", 0)
	x := in.shape(0)
	if len(x) != 3 || count < 1 || groups < 1 {
		return q, 0, 0, 0, false
	}
	size := x[2] / count
	if len(n.Inputs) < 2 || n.Inputs[1] == "" {
		size = x[2] / (count + 2*groups)
	}
	past := int64(0)
	if p := in.shape(3); len(p) == 4 {
		past = p[2]
	}
	steps = past + x[1]
	if len(in) > 6 && len(in.input(6).Value) == 1 {
		steps = in.input(6).Value[0]
	}
	return heads{x[0], count, x[1], size}, groups, steps, max(past, steps), true
}

func groupQuery(c *call) []TensorInfo {
	kind := c.input(0).Type
	q, groups, _, buffer, ok := groupQuerySides(c.node, c.inputs)
	if !ok {
		return withType(kind)
	}
	cached := withShape(cmp.Or(c.input(3).Type, kind), q.batch, groups, buffer, q.size)
	return slices.Concat(withShape(kind, q.batch, q.steps, q.count*q.size), cached, cached)
}

func groupQueryWork(n *Node, in inputs, _ TensorInfo) (Class, []int64) {
	q, _, steps, _, ok := groupQuerySides(n, in)
	if !ok {
		return ClassDense, nil
	}
	return q.products(steps, q.size)
}
