package onnx

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// NodeName returns the name that [WithNodeNames] gives a node of the main graph.
func NodeName(index int) string { return fmt.Sprintf("node_%d", index) }

// WithNodeNames returns an encoded model in which each node of the main graph has its
// [NodeName]. A runtime reports its kernels by the names of nodes, which exporters may
// leave out. The error matches [ErrSyntax].
func WithNodeNames(model []byte) ([]byte, error) {
	const graph, node, name = 7, 1, 3 // field numbers in ModelProto, GraphProto and NodeProto
	nodes := 0
	unnamed := func([]byte) ([][]byte, error) { return nil, nil }
	rename := func(content []byte) ([][]byte, error) {
		fields, err := mapFields(content, name, unnamed)
		nodes++
		return append(fields, appendText(nil, name, NodeName(nodes-1))), err
	}
	fields, err := mapFields(model, graph, func(content []byte) ([][]byte, error) {
		return mapFields(content, node, rename)
	})
	return slices.Concat(fields...), err
}

// mapFields returns the parts of a message in which change has replaced the content of
// each field of a number; a field whose content has no parts is left out. Unchanged
// fields are not copied.
func mapFields(message []byte, number protowire.Number, change func([]byte) ([][]byte, error)) ([][]byte, error) {
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
		if len(changed) == 0 {
			continue
		}
		length := 0
		for _, part := range changed {
			length += len(part)
		}
		parts = append(parts, protowire.AppendVarint(protowire.AppendTag(nil, number, kind), uint64(length)))
		parts = append(parts, changed...)
	}
	return parts, nil
}
