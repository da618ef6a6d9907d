package onnx

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Write encodes a model. Tensors with Data are written with it; for each other
// initializer fill must write exactly t.Stored bytes of raw little-endian data.
// The weights pass through and are never held.
func Write(w io.Writer, m *Model, fill func(w io.Writer, t *Tensor) error) error {
	out := &writer{w: bufio.NewWriterSize(w, 1<<16), fill: fill}
	head := appendSome(appendNumberField(nil, 1, uint64(m.IRVersion)), 2, m.Producer)
	for _, domain := range slices.Sorted(maps.Keys(m.Opsets)) {
		head = appendBytes(head, 8, appendNumberField(appendSome(nil, 1, domain), 2, uint64(m.Opsets[domain])))
	}
	out.raw(head)
	out.graph(&m.Graph)
	if out.err == nil {
		out.err = out.w.Flush()
	}
	return out.err
}

// writer keeps the first error.
type writer struct {
	w    *bufio.Writer
	fill func(w io.Writer, t *Tensor) error
	err  error
}

func (w *writer) raw(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
}

// graph writes the main graph: its length first, and then the weights, which need not be held.
func (w *writer) graph(g *Graph) {
	head, tail := encodeGraph(g)
	size := len(head) + len(tail)
	headers := make([][]byte, len(g.Initializers))
	for i := range g.Initializers {
		t := &g.Initializers[i]
		headers[i] = tensorHeader(t)
		body := len(headers[i]) + int(t.length())
		size += protowire.SizeTag(5) + protowire.SizeBytes(body)
	}
	w.raw(protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.BytesType), uint64(size)))
	w.raw(head)
	for i := range g.Initializers {
		t := &g.Initializers[i]
		w.raw(protowire.AppendVarint(protowire.AppendTag(nil, 5, protowire.BytesType), uint64(len(headers[i]))+uint64(t.length())))
		w.raw(headers[i])
		w.content(t)
	}
	w.raw(tail)
}

func (w *writer) content(t *Tensor) {
	if t.Data != nil {
		w.raw(t.Data)
		return
	}
	if w.err != nil || t.Stored == 0 {
		return
	}
	counted := &counter{w: w.w}
	if w.err = w.fill(counted, t); w.err == nil && counted.n != t.Stored {
		w.err = fmt.Errorf("initializer %q: %d bytes of data, want %d", t.Name, counted.n, t.Stored)
	}
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// length returns the number of bytes of raw data written; typed data was stored in another
// length than that.
func (t *Tensor) length() int64 {
	if t.Data != nil {
		return int64(len(t.Data))
	}
	return t.Stored
}

// tensorHeader returns a tensor up to and with the length of its raw data.
func tensorHeader(t *Tensor) []byte {
	b := appendPacked(nil, 1, t.Dims)
	b = appendNumberField(b, 2, uint64(t.Type))
	b = appendSome(b, 8, t.Name)
	return protowire.AppendVarint(protowire.AppendTag(b, 9, protowire.BytesType), uint64(t.length()))
}

// encodeGraph returns the messages before and after the initializers.
func encodeGraph(g *Graph) (head, tail []byte) {
	for i := range g.Nodes {
		head = appendBytes(head, 1, encodeNode(&g.Nodes[i]))
	}
	head = appendText(head, 2, g.Name)
	for _, v := range g.Inputs {
		tail = appendBytes(tail, 11, encodeValue(v))
	}
	for _, v := range g.Outputs {
		tail = appendBytes(tail, 12, encodeValue(v))
	}
	for _, v := range g.Values {
		tail = appendBytes(tail, 13, encodeValue(v))
	}
	return head, tail
}

func encodeNode(n *Node) []byte {
	var b []byte
	for _, name := range n.Inputs {
		b = appendText(b, 1, name)
	}
	for _, name := range n.Outputs {
		b = appendText(b, 2, name)
	}
	b = appendText(appendSome(b, 3, n.Name), 4, n.Op)
	for i := range n.Attributes {
		b = appendBytes(b, 5, encodeAttribute(&n.Attributes[i]))
	}
	return appendSome(b, 7, n.Domain)
}

func encodeAttribute(a *Attribute) []byte {
	b := appendText(nil, 1, a.Name)
	switch a.Kind {
	case KindFloat:
		b = protowire.AppendTag(b, 2, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, math.Float32bits(a.Float))
	case KindInt:
		b = appendNumberField(b, 3, uint64(a.Int))
	case KindString:
		b = appendText(b, 4, a.String)
	case KindTensor:
		b = appendBytes(b, 5, append(tensorHeader(a.Tensor), a.Tensor.Data...))
	case KindFloats:
		var packed []byte
		for _, f := range a.Floats {
			packed = protowire.AppendFixed32(packed, math.Float32bits(f))
		}
		b = appendBytes(b, 7, packed)
	case KindInts:
		b = appendPacked(b, 8, a.Ints)
	case KindStrings:
		for _, text := range a.Strings {
			b = appendText(b, 9, text)
		}
	case KindGraph, KindGraphs:
		n := protowire.Number(6)
		if a.Kind == KindGraphs {
			n = 11
		}
		for i := range a.Graphs {
			head, tail := encodeGraph(&a.Graphs[i])
			for k := range a.Graphs[i].Initializers {
				t := &a.Graphs[i].Initializers[k]
				head = appendBytes(head, 5, append(tensorHeader(t), t.Data...))
			}
			b = appendBytes(b, n, append(head, tail...))
		}
	}
	return appendNumberField(b, 20, uint64(a.Kind))
}

func encodeValue(v Value) []byte {
	b := appendText(nil, 1, v.Name)
	if v.Type == 0 {
		return b // a value of no stated type
	}
	kind := appendNumberField(nil, 1, uint64(v.Type))
	if v.Known {
		var shape []byte
		for _, d := range v.Shape {
			var dim []byte
			switch {
			case d.Size >= 0:
				dim = appendNumberField(nil, 1, uint64(d.Size))
			case d.Name != "":
				dim = appendText(nil, 2, d.Name)
			}
			shape = appendBytes(shape, 1, dim)
		}
		kind = appendBytes(kind, 2, shape)
	}
	return appendBytes(b, 2, appendBytes(nil, 1, kind))
}

func appendNumberField(b []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func appendText(b []byte, n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

// appendSome writes a text that is left out where there is none.
func appendSome(b []byte, n protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return appendText(b, n, s)
}

func appendBytes(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func appendPacked(b []byte, n protowire.Number, values []int64) []byte {
	var packed []byte
	for _, v := range values {
		packed = protowire.AppendVarint(packed, uint64(v))
	}
	return appendBytes(b, n, packed)
}
