package onnx

import (
	"math"
	"slices"
)

// imageOperators resample images.
var imageOperators = table{
	"Resize Upsample":                     {shape: resize, class: ClassMove, effort: resizeEffort},
	"DepthToSpace":                        {shape: blocks, class: ClassMove, effort: always(12)},
	"SpaceToDepth":                        {shape: blocks, class: ClassMove, effort: always(4.5)},
	"GridSample com.microsoft.GridSample": {shape: gridSample, class: ClassNormalize, reads: gridSampleReads, effort: always(unmet)},
	"AffineGrid":                          {shape: affineGrid, effort: always(4.5)},
	"RoiAlign":                            {shape: regions, class: ClassNormalize, reads: roiAlignReads},
	"MaxRoiPool":                          {shape: regions, class: ClassPool},
	"MaxUnpool":                           {shape: unpool, class: ClassMove},
	"Col2Im":                              {shape: columnsToImage},
	"CenterCropPad":                       {shape: centerCropPad, class: ClassMove, effort: always(4.5)},
	"DeformConv":                          {shape: convolution, work: deformedWork, layer: convLayer},
}

// resize makes an image by sizes or by scales, of all axes or of some. Sizes that keep the
// ratio of the sides follow from the policy.
func resize(c *call) []TensorInfo {
	x := c.input(0)
	scales, sizes := c.input(2).Real, c.input(3).Value
	if c.node.Op == "Upsample" || len(c.inputs) == 2 { // versions up to 10
		scales = c.input(1).Real
		sizes = nil
		if !c.given(1) {
			for _, v := range c.node.Attribute("scales").floats() {
				scales = append(scales, float64(v))
			}
		}
	}
	axes := c.node.Ints("axes")
	if axes == nil {
		axes = axesOf(x.Shape)
	}
	if !x.Known || len(axes) == 0 || len(sizes) != len(axes) && len(scales) != len(axes) {
		return withType(x.Type)
	}
	shape, factor := slices.Clone(x.Shape), 0.0
	for i, a := range axes {
		at, ok := axis(a, len(shape))
		if !ok {
			return withType(x.Type)
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
	return withShape(x.Type, shape...)
}

// floats returns the numbers of an attribute that may be missing.
func (a *Attribute) floats() []float32 {
	if a == nil {
		return nil
	}
	return a.Floats
}

// blocks moves channels into the image, or back.
func blocks(c *call) []TensorInfo {
	x, b := c.input(0), c.node.Int("blocksize", 0)
	switch {
	case !x.Known || len(x.Shape) != 4 || b < 1 || b > 1<<15:
		return withType(x.Type)
	case c.node.Op == "SpaceToDepth":
		return withShape(x.Type, x.Shape[0], x.Shape[1]*b*b, x.Shape[2]/b, x.Shape[3]/b)
	}
	return withShape(x.Type, x.Shape[0], x.Shape[1]/(b*b), x.Shape[2]*b, x.Shape[3]*b)
}

func gridSample(c *call) []TensorInfo {
	x, grid := c.input(0), c.input(1)
	if !x.Known || !grid.Known || len(x.Shape) < 3 || len(grid.Shape) != len(x.Shape) {
		return withType(x.Type)
	}
	return withShape(x.Type, slices.Concat(x.Shape[:2], grid.Shape[1:len(grid.Shape)-1])...)
}

// sampled is about how many bytes a value takes that is interpolated between four others:
// these, and their weights.
const sampled = 32

// gridSampleReads interpolates between four values, or by cubics between sixteen, each of
// which has a weight of its own.
func gridSampleReads(n *Node, _ inputs, out TensorInfo) []int64 {
	each := int64(sampled)
	if mode := n.Text("mode"); mode == "cubic" || mode == "bicubic" {
		each *= 10
	}
	return []int64{out.Elements(), each}
}

func affineGrid(c *call) []TensorInfo {
	x, size := c.input(0), c.input(1).Value
	if len(size) < 4 {
		return withType(x.Type)
	}
	return withShape(x.Type, append(append([]int64{size[0]}, size[2:]...), int64(len(size)-2))...)
}

// regions has images [batch, channels, height, width] and regions [number, 4 or 5].
func regions(c *call) []TensorInfo {
	x, list := c.input(0), c.input(1)
	size := c.node.Ints("pooled_shape")
	if c.node.Op == "RoiAlign" {
		size = []int64{c.node.Int("output_height", 1), c.node.Int("output_width", 1)}
	}
	if !x.Known || !list.Known || len(x.Shape) != 4 || len(list.Shape) != 2 || len(size) != 2 {
		return withType(x.Type)
	}
	return withShape(x.Type, list.Shape[0], x.Shape[1], size[0], size[1])
}

// roiAlignReads samples each cell so many times each way; without a number, as often as
// the region is larger than the result, which is not known: twice.
func roiAlignReads(n *Node, _ inputs, out TensorInfo) []int64 {
	samples := n.Int("sampling_ratio", 0)
	if samples < 1 {
		samples = 2
	}
	return []int64{out.Elements(), samples, samples, sampled}
}

func unpool(c *call) []TensorInfo {
	x := c.input(0)
	if c.given(2) {
		if to := c.input(2).Value; to != nil {
			return withShape(x.Type, to...)
		}
		return withType(x.Type)
	}
	windows := c.windows(len(x.Shape)-2, nil)
	if !x.Known || windows == nil {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape)
	for i, w := range windows {
		shape[2+i] = (x.Shape[2+i]-1)*w.stride + w.kernel - w.before - w.after
	}
	return withShape(x.Type, shape...)
}

// columnsToImage has blocks [batch, channels*block, number] and adds them up in an image.
func columnsToImage(c *call) []TensorInfo {
	x := c.input(0)
	image := c.input(1).Value
	block := c.input(2).Value
	cells, ok := product(block)
	if !x.Known || len(x.Shape) != 3 || image == nil || block == nil || !ok || cells < 1 {
		return withType(x.Type)
	}
	return withShape(x.Type, append([]int64{x.Shape[0], x.Shape[1] / cells}, image...)...)
}

func centerCropPad(c *call) []TensorInfo {
	x := c.input(0)
	to := c.input(1).Value
	axes := c.node.Ints("axes")
	if axes == nil {
		axes = axesOf(x.Shape)
	}
	if !x.Known || len(to) != len(axes) {
		return withType(x.Type)
	}
	shape := slices.Clone(x.Shape)
	for i, a := range axes {
		at, ok := axis(a, len(shape))
		if !ok {
			return withType(x.Type)
		}
		shape[at] = to[i]
	}
	return withShape(x.Type, shape...)
}

// deformedWork counts a convolution most of whose time goes into sampling, so it costs like
// one channel by channel.
func deformedWork(n *Node, in inputs, out TensorInfo) (Class, []int64) {
	_, sizes := convolutionWork(n, in, out)
	return ClassDepthwise, sizes
}
