package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// TensorInfo is the inferred type, shape and, of short tensors, content of one tensor.
type TensorInfo struct {
	Type  DataType // 0 when unknown
	Known bool     // Shape holds, be it of rank 0
	Shape []int64
	// Constant reports whether the tensor does not depend on the inputs.
	Constant bool
	// Value is the content of a short tensor of whole numbers or truth values, in
	// row-major order, where it follows from shapes and constants, such as the
	// target of a Reshape; nil when unknown. Real is that of real numbers, such as
	// the scales of a Resize.
	Value []int64
	Real  []float64
	// List is the tensors of a sequence, which has no shape of its own; nil for a tensor.
	List []TensorInfo
	// Element is each tensor of a sequence whose length is unknown; nil for a tensor.
	Element *TensorInfo
}

// sequence reports whether it is a sequence: it has no shape that could be unknown.
func (s TensorInfo) sequence() bool { return s.List != nil || s.Element != nil }

// Elements returns the number of elements, or -1 when unknown.
func (s TensorInfo) Elements() int64 {
	if !s.Known {
		return -1
	}
	return multiplyCounts(s.Shape...)
}

// Bytes returns the size in bytes, or -1 when unknown. Strings count as nothing.
func (s TensorInfo) Bytes() int64 {
	n, width := s.Elements(), s.Type.Bits()
	if n < 0 || s.Type == 0 {
		return -1
	}
	return addCounts(multiplyCounts(n/8, width), (n%8*width+7)/8)
}

// checkSize refuses a tensor whose elements or bytes do not fit int64.
func (s TensorInfo) checkSize(name string) error {
	if s.Elements() == math.MaxInt64 || s.Bytes() == math.MaxInt64 {
		return fmt.Errorf("%w: the size of tensor %q, of shape %v, exceeds 64 bits", ErrGraph, name, s.Shape)
	}
	return nil
}

// product multiplies sizes; false when one is negative or the result is beyond
// int64.
func product(sizes []int64) (int64, bool) {
	n := multiplyCounts(sizes...)
	if n < 0 || n == math.MaxInt64 {
		return 0, false
	}
	return n, true
}

// multiplyCounts returns a product of counts that stays within int64; -1 if one is negative.
func multiplyCounts(counts ...int64) int64 {
	n := uint64(1)
	for _, c := range counts {
		if c < 0 {
			return -1
		}
		high, low := bits.Mul64(n, uint64(c))
		if high > 0 || low > math.MaxInt64 {
			low = math.MaxInt64
		}
		n = low
	}
	return int64(n)
}

// addCounts returns a sum of counts that stays within int64.
func addCounts(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// constant returns the type, shape and content of an initializer or of a Constant's tensor.
func constant(t *Tensor) TensorInfo {
	s := TensorInfo{Type: t.Type, Known: true, Shape: slices.Clone(t.Dims), Constant: true}
	if n, ok := product(t.Dims); ok && n <= short {
		s.Value, s.Real = wholeNumbers(t, n), realNumbers(t, n)
	}
	return s
}

// short is the largest number of elements of a tensor whose content is followed.
const short = 1024

// realNumbers returns the values of a short tensor of float32 or float64.
func realNumbers(t *Tensor, n int64) []float64 {
	var values []float64
	switch {
	case n < 1:
	case t.Type == Float32 && int64(len(t.Data)) == 4*n:
		for b := t.Data; len(b) > 0; b = b[4:] {
			values = append(values, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	case t.Type == Float64 && int64(len(t.Data)) == 8*n:
		for b := t.Data; len(b) > 0; b = b[8:] {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	}
	return values
}

func wholeNumbers(t *Tensor, n int64) []int64 {
	if n > 0 && t.Data == nil {
		return nil
	}
	values := make([]int64, 0, n)
	switch {
	case t.Type == Int64 && int64(len(t.Data)) == 8*n:
		for b := t.Data; len(b) > 0; b = b[8:] {
			values = append(values, int64(binary.LittleEndian.Uint64(b)))
		}
	case t.Type == Int32 && int64(len(t.Data)) == 4*n:
		for b := t.Data; len(b) > 0; b = b[4:] {
			values = append(values, int64(int32(binary.LittleEndian.Uint32(b))))
		}
	case t.Type == Bool && int64(len(t.Data)) == n:
		for _, b := range t.Data {
			values = append(values, int64(b))
		}
	case n == 0:
	default:
		return nil
	}
	return values
}

// topological orders the nodes by Kahn's algorithm, in file order where free.
// Tensors that no node makes are inputs, initializers, or of an outer graph.
func topological(g *Graph) ([]int, error) {
	maker := map[string]int{}
	for i := range g.Nodes {
		for _, name := range g.Nodes[i].Outputs {
			if name == "" {
				continue
			}
			if other, made := maker[name]; made {
				return nil, fmt.Errorf("%w: nodes %d and %d both produce %q", ErrGraph, other, i, name)
			}
			maker[name] = i
		}
	}
	users := make([][]int, len(g.Nodes))
	waits := make([]int, len(g.Nodes))
	for i := range g.Nodes {
		for _, name := range needs(&g.Nodes[i]) {
			if from, made := maker[name]; made {
				users[from] = append(users[from], i)
				waits[i]++
			}
		}
	}
	var order, ready []int
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		order = append(order, i)
		for k := len(users[i]) - 1; k >= 0; k-- {
			u := users[i][k]
			if waits[u]--; waits[u] == 0 {
				ready = append(ready, u)
			}
		}
	}
	if len(order) < len(g.Nodes) {
		return nil, fmt.Errorf("%w: %d of %d nodes depend on each other in a cycle", ErrGraph, len(g.Nodes)-len(order), len(g.Nodes))
	}
	return order, nil
}

// needs lists a node's inputs and what its inner graphs take from outside.
func needs(n *Node) []string {
	names := slices.Clone(n.Inputs)
	for _, a := range n.Attributes {
		for i := range a.Graphs {
			g := &a.Graphs[i]
			inside := map[string]bool{}
			for _, v := range g.Inputs {
				inside[v.Name] = true
			}
			for k := range g.Initializers {
				inside[g.Initializers[k].Name] = true
			}
			for k := range g.Nodes {
				for _, name := range g.Nodes[k].Outputs {
					inside[name] = true
				}
			}
			for k := range g.Nodes {
				for _, name := range needs(&g.Nodes[k]) {
					if !inside[name] {
						names = append(names, name)
					}
				}
			}
			for _, v := range g.Outputs {
				if !inside[v.Name] {
					names = append(names, v.Name)
				}
			}
		}
	}
	return names
}
