package onnx

import (
	"math"
	"slices"
)

// imageOperators resample images.
var imageOperators = table{
	"Resize Upsample":           {shape: resize, class: ClassMove},
	"DepthToSpace SpaceToDepth": {shape: blocks, class: ClassMove},
	"GridSample":                {shape: gridSample},
}

// resize is by sizes or by scales, of all axes or of some. Sizes that keep the
// ratio of the sides follow from the policy.
func resize(c *call) []Shaped {
	x := c.input(0)
	scales, sizes := c.input(2).Real, c.input(3).Value
	if c.node.Op == "Upsample" || len(c.inputs) == 2 { // versions up to 10
		if scales, sizes = c.input(1).Real, nil; !c.given(1) {
			for _, v := range c.node.Attribute("scales").floats() {
				scales = append(scales, float64(v))
			}
		}
	}
	axes := c.node.Ints("axes")
	if axes == nil {
		for i := range x.Shape {
			axes = append(axes, int64(i))
		}
	}
	if !x.Known || len(axes) == 0 || len(sizes) != len(axes) && len(scales) != len(axes) {
		return typed(x.Type)
	}
	shape, factor := slices.Clone(x.Shape), 0.0
	for i, a := range axes {
		at, ok := axis(a, len(shape))
		if !ok {
			return typed(x.Type)
		}
		if len(sizes) != len(axes) {
			shape[at] = int64(math.Floor(float64(x.Shape[at]) * scales[i]))
			continue
		}
		ratio := float64(sizes[i]) / float64(max(1, x.Shape[at]))
		switch policy := c.node.Text("keep_aspect_ratio_policy"); {
		case policy == "not_larger" && (factor == 0 || ratio < factor), policy == "not_smaller" && ratio > factor:
			factor = ratio
		}
		shape[at] = sizes[i]
	}
	if factor > 0 {
		for _, a := range axes {
			at, _ := axis(a, len(shape))
			shape[at] = int64(math.Round(factor * float64(x.Shape[at])))
		}
	}
	return shaped(x.Type, shape...)
}

// floats are those of an attribute that may be missing.
func (a *Attribute) floats() []float32 {
	if a == nil {
		return nil
	}
	return a.Floats
}

// blocks moves channels into the image, or back.
func blocks(c *call) []Shaped {
	x, b := c.input(0), c.node.Int("blocksize", 0)
	switch {
	case !x.Known || len(x.Shape) != 4 || b < 1 || b > 1<<15:
		return typed(x.Type)
	case c.node.Op == "SpaceToDepth":
		return shaped(x.Type, x.Shape[0], x.Shape[1]*b*b, x.Shape[2]/b, x.Shape[3]/b)
	}
	return shaped(x.Type, x.Shape[0], x.Shape[1]/(b*b), x.Shape[2]*b, x.Shape[3]*b)
}

func gridSample(c *call) []Shaped {
	x, grid := c.input(0), c.input(1)
	if !x.Known || !grid.Known || len(x.Shape) < 3 || len(grid.Shape) != len(x.Shape) {
		return typed(x.Type)
	}
	return shaped(x.Type, slices.Concat(x.Shape[:2], grid.Shape[1:len(grid.Shape)-1])...)
}
