package onnx

import (
	"errors"
	"fmt"
)

// Returned when a file is not used.
var (
	// ErrSyntax is returned for bytes that are no ONNX model; see [SyntaxError].
	ErrSyntax = errors.New("not an ONNX model")
	// ErrLimit is returned for a file whose graph is too large to keep.
	ErrLimit = errors.New("model exceeds a limit")
	// ErrGraph is returned for a graph that contradicts itself: a cycle, two nodes that make the
	// same tensor, or an input that nothing makes.
	ErrGraph = errors.New("invalid graph")
	// ErrSize is returned for a size that an operator cannot take, be it one that was
	// assumed for an open dimension.
	ErrSize = errors.New("impossible size")
)

// SyntaxError holds the place at which a file is no longer valid. It matches [ErrSyntax].
type SyntaxError struct {
	Offset int64  // byte in the file
	Field  string // path of messages, such as "model.graph.node"
	Msg    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v: byte %d: %s: %s", ErrSyntax, e.Offset, e.Field, e.Msg)
}

// Is reports whether target is ErrSyntax.
func (e *SyntaxError) Is(target error) bool { return target == ErrSyntax }

// Model is an ONNX file without its weights.
type Model struct {
	IRVersion int64
	Producer  string
	Opsets    map[string]int64 // version by domain; the default domain is ""
	Graph     Graph
	Functions []Function // the model's own operators
	ImageSize [2]int64   // height and width of a picture, where the exporter noted them
}

// Graph is the nodes of a model, or of a branch or loop body within a node.
type Graph struct {
	Name         string
	Nodes        []Node
	Inputs       []Value
	Outputs      []Value
	Values       []Value // stated shapes of tensors in between
	Initializers []Tensor
	Sparse       int // sparse initializers
}

// Node is one operation.
type Node struct {
	Name       string
	Op         string
	Domain     string // "" and "ai.onnx" are the same
	Inputs     []string
	Outputs    []string
	Attributes []Attribute
}

// Attribute is one named setting of a node; the field that Kind names is set.
type Attribute struct {
	Name    string
	Kind    AttributeKind
	Float   float32
	Int     int64
	String  string
	Floats  []float32
	Ints    []int64
	Strings []string
	Tensor  *Tensor
	Graphs  []Graph // of GRAPH and GRAPHS
	// Reference names the attribute of the function around the node that has the value;
	// "" for a value here.
	Reference string
}

// IntsAttribute returns a named attribute of integers.
func IntsAttribute(name string, v ...int64) Attribute {
	return Attribute{Name: name, Kind: KindInts, Ints: v}
}

// IntAttribute returns a named integer attribute.
func IntAttribute(name string, v int64) Attribute {
	return Attribute{Name: name, Kind: KindInt, Int: v}
}

// FloatAttribute returns a named attribute of a number.
func FloatAttribute(name string, v float32) Attribute {
	return Attribute{Name: name, Kind: KindFloat, Float: v}
}

// AttributeKind is AttributeProto.AttributeType.
type AttributeKind int32

// The kinds of attribute that are read; others keep their number and no value.
const (
	KindFloat   AttributeKind = 1
	KindInt     AttributeKind = 2
	KindString  AttributeKind = 3
	KindTensor  AttributeKind = 4
	KindGraph   AttributeKind = 5
	KindFloats  AttributeKind = 6
	KindInts    AttributeKind = 7
	KindStrings AttributeKind = 8
	KindGraphs  AttributeKind = 10
)

// Value is a named tensor with its stated type.
type Value struct {
	Name  string
	Type  DataType // 0 for what is not a tensor
	Known bool     // a shape is stated, be it of rank 0
	Shape []Dim
	// Element is the type of each tensor of a sequence, Optional that of a tensor or a
	// sequence that may be left out; nil for a tensor.
	Element, Optional *Value
}

// Dim is one dimension: a size, or a name where it is decided at runtime.
type Dim struct {
	Size int64 // -1 when it is not stated
	Name string
}

// Tensor is a constant. Its data is kept only where it is short.
type Tensor struct {
	Name     string
	Type     DataType
	Dims     []int64
	External bool   // the data lies in another file
	Location string // of that file, next to the model's
	// Stored is the length of the data in the file in bytes.
	Stored int64
	// Data is the raw little-endian data when it is at most 4 KiB, or the
	// values of a typed field; nil otherwise.
	Data []byte
	// Offset is the position in the file of raw data of any length, or of packed numbers with
	// the same layout; 0 if it is in another field.
	Offset int64
}

// DataType is TensorProto.DataType.
type DataType int32

// The data types.
const (
	Float32  DataType = 1
	Uint8    DataType = 2
	Int8     DataType = 3
	Uint16   DataType = 4
	Int16    DataType = 5
	Int32    DataType = 6
	Int64    DataType = 7
	String   DataType = 8
	Bool     DataType = 9
	Float16  DataType = 10
	Float64  DataType = 11
	Uint32   DataType = 12
	Uint64   DataType = 13
	BFloat16 DataType = 16
)

// types are the names of data types, as NumPy has them, and the bits of one element.
var types = map[DataType]struct {
	name string
	bits int64
}{
	Float32: {"float32", 32}, Uint8: {"uint8", 8}, Int8: {"int8", 8}, Uint16: {"uint16", 16}, Int16: {"int16", 16}, Int32: {"int32", 32}, Int64: {"int64", 64},
	String: {"string", 0}, Bool: {"bool", 8}, Float16: {"float16", 16}, Float64: {"float64", 64}, Uint32: {"uint32", 32}, Uint64: {"uint64", 64},
	14: {"complex64", 64}, 15: {"complex128", 128}, BFloat16: {"bfloat16", 16}, 17: {"float8e4m3fn", 8}, 18: {"float8e4m3fnuz", 8},
	19: {"float8e5m2", 8}, 20: {"float8e5m2fnuz", 8}, 21: {"uint4", 4}, 22: {"int4", 4}, 23: {"float4e2m1", 4},
}

// String returns the type's name as NumPy has it.
func (t DataType) String() string {
	if of, ok := types[t]; ok {
		return of.name
	}
	return fmt.Sprintf("type %d", int32(t))
}

// Bits returns the width of one element, 0 for strings and unknown types.
func (t DataType) Bits() int64 { return types[t].bits }

// Attribute returns the named attribute, or nil.
func (n *Node) Attribute(name string) *Attribute {
	for i := range n.Attributes {
		if n.Attributes[i].Name == name {
			return &n.Attributes[i]
		}
	}
	return nil
}

// Int returns the named whole number, or otherwise if the node does not give it.
func (n *Node) Int(name string, otherwise int64) int64 {
	if a := n.Attribute(name); a != nil && a.Kind == KindInt {
		return a.Int
	}
	return otherwise
}

// Ints returns the named whole numbers, or nil.
func (n *Node) Ints(name string) []int64 {
	if a := n.Attribute(name); a != nil && a.Kind == KindInts {
		return a.Ints
	}
	return nil
}

// Text returns the named string, or "".
func (n *Node) Text(name string) string {
	if a := n.Attribute(name); a != nil && a.Kind == KindString {
		return a.String
	}
	return ""
}

// standard reports whether the node is one of ONNX's own operators.
func (n *Node) standard() bool { return n.Domain == "" || n.Domain == "ai.onnx" }

// operator returns the node's operator, with its domain where that is not ONNX's own.
func (n *Node) operator() string {
	if n.standard() {
		return n.Op
	}
	return n.Domain + "." + n.Op
}
