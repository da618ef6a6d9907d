package onnx

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// NodeName returns the name that [WithNodeNames] gives a node of the main graph.
func NodeName(index int) string { return fmt.Sprintf("node_%d", index) }

// Field numbers in ModelProto, GraphProto and NodeProto.
const (
	fieldGraph     = 7
	fieldFunctions = 25
	fieldNode      = 1
	fieldName      = 3
)

// WithNodeNames returns an encoded model in which each node of the main graph has its
// [NodeName]; functions are inlined, as in [Analyze], if m, the model as it was read, is
// [CanInline]. A runtime reports its kernels by the names of nodes, which exporters may
// leave out. The error matches [ErrSyntax], or those of inlining.
func WithNodeNames(model []byte, m *Model) ([]byte, error) {
	in, err := newInliner(m, mostKept)
	if err != nil {
		return nil, err
	}
	nodes := 0
	read := 0
	empty := func([]byte) ([][]byte, error) { return nil, nil }
	rename := func(content []byte) ([][]byte, error) {
		var own Node
		if read < len(m.Graph.Nodes) {
			own = m.Graph.Nodes[read]
		}
		read++
		if len(m.Functions) > 0 && (in.functions[own.operator()] != nil || own.holdsGraphs()) {
			list := in.nodes([]Node{own})
			var parts [][]byte
			for i := range list {
				list[i].Name = NodeName(nodes)
				nodes++
				parts = append(parts, appendBytes(nil, fieldNode, encodeNode(&list[i])))
			}
			return parts, nil
		}
		fields, err := mapFields(content, fieldName, empty)
		fields = append(fields, appendText(nil, fieldName, NodeName(nodes)))
		nodes++
		return [][]byte{appendBytes(nil, fieldNode, slices.Concat(fields...))}, err
	}
	fields, err := mapFields(model, fieldGraph, func(content []byte) ([][]byte, error) {
		return replaceFields(content, fieldNode, rename)
	})
	if err != nil || len(m.Functions) == 0 {
		return slices.Concat(fields...), err
	}
	fields, err = mapFields(slices.Concat(fields...), fieldFunctions, empty)
	return slices.Concat(fields...), err
}

// CanInline reports whether [WithNodeNames] can inline the functions of a model: of long
// tensors in nodes, a model keeps only the shape.
func CanInline(m *Model) bool {
	for i := range m.Functions {
		if !complete(m.Functions[i].Nodes) {
			return false
		}
	}
	for i := range m.Graph.Nodes {
		if n := &m.Graph.Nodes[i]; n.holdsGraphs() && !complete(m.Graph.Nodes[i:i+1]) {
			return false
		}
	}
	return true
}

func (n *Node) holdsGraphs() bool {
	return slices.ContainsFunc(n.Attributes, func(a Attribute) bool { return len(a.Graphs) > 0 })
}

// complete reports whether the tensors in nodes have all their data.
func complete(nodes []Node) bool {
	for i := range nodes {
		for _, a := range nodes[i].Attributes {
			if a.Tensor != nil && a.Tensor.Data == nil && a.Tensor.Stored > 0 {
				return false
			}
			for k := range a.Graphs {
				missing := func(t Tensor) bool { return t.Data == nil && t.Stored > 0 }
				if !complete(a.Graphs[k].Nodes) || slices.ContainsFunc(a.Graphs[k].Initializers, missing) {
					return false
				}
			}
		}
	}
	return true
}

// mapFields returns the parts of a message in which change has replaced the content of
// each field of a number; a field whose content has no parts is left out. Unchanged
// fields are not copied.
func mapFields(message []byte, number protowire.Number, change func([]byte) ([][]byte, error)) ([][]byte, error) {
	return replaceFields(message, number, func(content []byte) ([][]byte, error) {
		changed, err := change(content)
		if err != nil || len(changed) == 0 {
			return nil, err
		}
		length := 0
		for _, part := range changed {
			length += len(part)
		}
		head := protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.BytesType), uint64(length))
		return append([][]byte{head}, changed...), nil
	})
}

// replaceFields returns the parts of a message in which the parts that change makes of the
// content of each field of a number take the field's place.
func replaceFields(message []byte, number protowire.Number, change func([]byte) ([][]byte, error)) ([][]byte, error) {
	var parts [][]byte
	for at := 0; at < len(message); {
		found, kind, size := protowire.ConsumeTag(message[at:])
		if size < 0 {
			return nil, &SyntaxError{Offset: int64(at), Msg: protowire.ParseError(size).Error()}
		}
		value := protowire.ConsumeFieldValue(found, kind, message[at+size:])
		if value < 0 {
			return nil, &SyntaxError{Offset: int64(at), Msg: protowire.ParseError(value).Error()}
		}
		field := message[at : at+size+value]
		at += len(field)
		if found != number || kind != protowire.BytesType {
			parts = append(parts, field)
			continue
		}
		content, _ := protowire.ConsumeBytes(field[size:])
		changed, err := change(content)
		if err != nil {
			return nil, err
		}
		parts = append(parts, changed...)
	}
	return parts, nil
}
