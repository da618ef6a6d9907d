package onnx

import "slices"

// sequenceOperators work on lists of tensors, and on tensors that may be left out.
var sequenceOperators = table{
	"SequenceConstruct":           {shape: sequenceOf, class: ClassMove},
	"SequenceEmpty":               {shape: sequenceOf, class: ClassMove},
	"SequenceInsert":              {shape: sequenceInsert, class: ClassMove},
	"SequenceErase":               {shape: sequenceErase, class: ClassMove},
	"SequenceAt":                  {shape: sequenceAt, class: ClassMove},
	"SequenceLength":              {shape: sequenceLength, class: ClassMove},
	"SplitToSequence":             {shape: splitToSequence, class: ClassMove},
	"ConcatFromSequence":          {shape: concatFromSequence, class: ClassMove},
	"Optional OptionalGetElement": {shape: passThrough, class: ClassMove},
	"OptionalHasElement":          {shape: scalarBool, class: ClassMove},
}

func sequence(list []TensorInfo) []TensorInfo {
	return []TensorInfo{{List: append([]TensorInfo{}, list...)}}
}

func sequenceOf(c *call) []TensorInfo { return sequence(c.inputs) }

func sequenceInsert(c *call) []TensorInfo {
	list := c.input(0).List
	if e := c.input(0).Element; e != nil {
		return []TensorInfo{{Element: commonElement([]TensorInfo{*e, c.input(1)})}}
	}
	if list == nil {
		return nil
	}
	at := int64(len(list))
	if c.given(2) {
		v := c.input(2).Value
		switch {
		case len(v) == 1 && v[0] >= -at && v[0] <= at:
			if at = v[0]; at < 0 {
				at += int64(len(list))
			}
		case !alike(append(slices.Clone(list), c.input(1))):
			return []TensorInfo{{Element: &TensorInfo{Type: c.input(1).Type}}} // the place is an input's value
		}
	}
	return sequence(slices.Insert(slices.Clone(list), int(at), c.input(1)))
}

func sequenceErase(c *call) []TensorInfo {
	list := c.input(0).List
	if c.input(0).Element != nil {
		return []TensorInfo{c.input(0)}
	}
	if len(list) == 0 {
		return nil
	}
	at := int64(len(list) - 1)
	if c.given(1) {
		v := c.input(1).Value
		switch {
		case len(v) == 1 && v[0] >= -at-1 && v[0] <= at:
			if at = v[0]; at < 0 {
				at += int64(len(list))
			}
		case !alike(list):
			return []TensorInfo{{Element: commonElement(list)}}
		}
	}
	return sequence(slices.Delete(slices.Clone(list), int(at), int(at)+1))
}

func sequenceAt(c *call) []TensorInfo {
	list, v := c.input(0).List, c.input(1).Value
	if e := c.input(0).Element; e != nil {
		return []TensorInfo{*e}
	}
	if len(list) == 0 {
		return nil
	}
	if n := int64(len(list)); len(v) == 1 && v[0] >= -n && v[0] < n {
		return []TensorInfo{list[(v[0]+n)%n]}
	}
	if !alike(list) {
		return withType(list[0].Type)
	}
	return []TensorInfo{{Type: list[0].Type, Known: list[0].Known, Shape: list[0].Shape}}
}

// commonElement returns the shape and the type that all tensors have, unknown if they
// differ.
func commonElement(list []TensorInfo) *TensorInfo {
	if len(list) == 0 || !alike(list) {
		e := new(TensorInfo)
		for _, s := range list {
			e.Type = s.Type
		}
		return e
	}
	return &TensorInfo{Type: list[0].Type, Known: true, Shape: list[0].Shape}
}

// alike reports whether all tensors have one shape.
func alike(list []TensorInfo) bool {
	return !slices.ContainsFunc(list, func(s TensorInfo) bool { return !s.Known || !slices.Equal(s.Shape, list[0].Shape) })
}

func sequenceLength(c *call) []TensorInfo {
	out := TensorInfo{Type: Int64, Known: true, Shape: []int64{}}
	if list := c.input(0).List; list != nil {
		out.Value = []int64{int64(len(list))}
	}
	return []TensorInfo{out}
}

func splitToSequence(c *call) []TensorInfo {
	x, sizes := c.input(0), c.input(1).Value
	at, ok := axis(c.node.Int("axis", 0), len(x.Shape))
	if !ok || !x.Known || c.given(1) && len(sizes) == 0 || x.Shape[at] > short {
		return []TensorInfo{{Element: &TensorInfo{Type: x.Type}}}
	}
	each := int64(1)
	if c.given(1) && len(c.input(1).Shape) == 0 {
		each, sizes = sizes[0], nil
	}
	if each < 1 {
		return nil
	}
	if sizes == nil {
		for left := x.Shape[at]; left > 0; left -= each {
			sizes = append(sizes, min(each, left))
		}
	}
	var list []TensorInfo
	for _, size := range sizes {
		part := TensorInfo{Type: x.Type, Known: true, Shape: slices.Clone(x.Shape)}
		part.Shape[at] = size
		if !c.given(1) && c.node.Int("keepdims", 1) == 0 {
			part.Shape = slices.Delete(part.Shape, at, at+1)
		}
		list = append(list, part)
	}
	return sequence(list)
}

func concatFromSequence(c *call) []TensorInfo {
	list := slices.Clone(c.input(0).List)
	if len(list) == 0 {
		return nil // how many there are is unknown
	}
	if c.node.Int("new_axis", 0) == 1 {
		at, ok := axis(c.node.Int("axis", 0), len(list[0].Shape)+1)
		if !ok || !alike(list) {
			return withType(list[0].Type)
		}
		return withShape(list[0].Type, slices.Insert(slices.Clone(list[0].Shape), at, int64(len(list)))...)
	}
	return joinTensors(c, list)
}

func passThrough(c *call) []TensorInfo { return []TensorInfo{c.input(0)} }

func scalarBool(*call) []TensorInfo { return withShape(Bool) }
