package onnx

import (
	"maps"
	"slices"
	"strings"
)

// equation is an Einsum's, with the size of each of its labels.
type equation struct {
	sizes map[rune]int64
	terms [][]rune // of the inputs
	out   []rune
}

// equationOf reads an equation; false where sizes are unknown or contradict each other.
// The axes of an ellipsis have labels from firstEllipsis on, the last axis the first.
func equationOf(text string, inputs []TensorInfo) (equation, bool) {
	e := equation{sizes: map[rune]int64{}}
	left, right, stated := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(inputs) {
		return e, false
	}
	widest := 0 // axes of an ellipsis
	for i, term := range terms {
		if before, after, ok := strings.Cut(term, "..."); ok && inputs[i].Known {
			axes := len(inputs[i].Shape) - len(before) - len(after)
			widest = max(widest, axes)
			terms[i] = before + ellipsis(axes) + after
		}
	}
	right = strings.Replace(right, "...", ellipsis(widest), 1)
	if strings.ContainsRune(text, '.') && !stated {
		right = ellipsis(widest)
	}
	seen := map[rune]int{}
	for i, term := range terms {
		labels := []rune(term)
		if !inputs[i].Known || len(labels) != len(inputs[i].Shape) {
			return e, false
		}
		e.terms = append(e.terms, labels)
		for k, label := range labels {
			size := inputs[i].Shape[k]
			if was, ok := e.sizes[label]; ok && was != size && was != 1 && size != 1 {
				return e, false
			}
			e.sizes[label] = max(size, e.sizes[label])
			seen[label]++
		}
	}
	e.out = []rune(right)
	if !stated { // labels that occur once, in their order
		for label := 'A'; label <= 'z'; label++ {
			if seen[label] == 1 {
				e.out = append(e.out, label)
			}
		}
	}
	return e, true
}

const firstEllipsis = '\u0100'

// ellipsis returns the labels of so many axes.
func ellipsis(axes int) string {
	var labels []rune
	for i := range max(axes, 0) {
		labels = append(labels, firstEllipsis+rune(axes-1-i))
	}
	return string(labels)
}

func einsum(c *call) []TensorInfo {
	e, ok := equationOf(c.node.Text("equation"), c.inputs)
	if !ok {
		return withType(c.input(0).Type)
	}
	shape := make([]int64, len(e.out))
	for i, label := range e.out {
		size, ok := e.sizes[label]
		if !ok {
			return withType(c.input(0).Type)
		}
		shape[i] = size
	}
	return withShape(c.input(0).Type, shape...)
}

// einsumWork counts a product of two as a matrix product: one
// multiply-accumulate for each combination of labels. One input alone is copied or added up.
func einsumWork(n *Node, in inputs, _ TensorInfo) (Class, []int64) {
	e, ok := equationOf(n.Text("equation"), in)
	switch {
	case !ok:
		return ClassDense, nil
	case len(in) < 2:
		return ClassNormalize, []int64{0}
	}
	return ClassDense, append(slices.Collect(maps.Values(e.sizes)), int64(len(in)-1))
}
