package onnx

import (
	"maps"
	"slices"
	"strings"
)

// equation is an Einsum's, with the size of each of its labels.
type equation struct {
	sizes map[rune]int64
	out   []rune
}

// equationOf reads an equation without an ellipsis; false where sizes are
// unknown or contradict each other.
func equationOf(text string, inputs []Shaped) (equation, bool) {
	e := equation{sizes: map[rune]int64{}}
	left, right, stated := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	terms := strings.Split(left, ",")
	if strings.Contains(text, ".") || len(terms) != len(inputs) {
		return e, false
	}
	seen := map[rune]int{}
	for i, term := range terms {
		labels := []rune(term)
		if !inputs[i].Known || len(labels) != len(inputs[i].Shape) {
			return e, false
		}
		for k, label := range labels {
			size := inputs[i].Shape[k]
			if was, ok := e.sizes[label]; ok && was != size && was != 1 && size != 1 {
				return e, false
			}
			e.sizes[label] = max(size, e.sizes[label])
			seen[label]++
		}
	}
	if e.out = []rune(right); !stated { // labels that occur once, in their order
		for label := 'A'; label <= 'z'; label++ {
			if seen[label] == 1 {
				e.out = append(e.out, label)
			}
		}
	}
	return e, true
}

func einsum(c *call) []Shaped {
	e, ok := equationOf(c.node.Text("equation"), c.inputs)
	if !ok {
		return typed(c.input(0).Type)
	}
	shape := make([]int64, len(e.out))
	for i, label := range e.out {
		size, ok := e.sizes[label]
		if !ok {
			return typed(c.input(0).Type)
		}
		shape[i] = size
	}
	return shaped(c.input(0).Type, shape...)
}

// einsumWork counts a product of two as a matrix product: one
// multiply-accumulate for each combination of labels.
func einsumWork(n *Node, in inputs, _ Shaped) (Class, []int64) {
	e, ok := equationOf(n.Text("equation"), in)
	if !ok || len(in) < 2 {
		return ClassDense, nil
	}
	return ClassDense, append(slices.Collect(maps.Values(e.sizes)), int64(len(in)-1))
}
