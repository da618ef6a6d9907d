package onnx

import "slices"

// LayerDomain is that of layers of other run times that ONNX has no operator for.
// Their shapes are as the file states them.
const LayerDomain = "ncnn"

// layerClasses are the classes of those layers whose cost is known.
var layerClasses = map[string]Class{
	"ShuffleChannel": ClassMove, "Permute": ClassMove, "Flatten": ClassMove, "Slice": ClassMove, "Crop": ClassMove, "Padding": ClassMove, "Reshape": ClassMove,
	"Noop": ClassMove, "Interp": ClassMove, "Reduction": ClassNormalize, "PriorBox": ClassOther, "DetectionOutput": ClassOther,
	"YoloDetectionOutput": ClassOther, "Yolov3DetectionOutput": ClassOther,
}

// orders of a Permute: where width, height and channels come from.
var orders = []string{"whc", "hwc", "wch", "cwh", "hcw", "chw"}

// permuted is a Permute: matrices are turned by order 1, images by all.
func permuted(c *call) []Shaped {
	x, order := c.input(0), c.node.Int("order", 0)
	if !x.Known || len(x.Shape) < 3 || len(x.Shape) > 4 || order < 0 || order >= int64(len(orders)) {
		return typed(x.Type)
	}
	if len(x.Shape) == 3 {
		if order == 1 {
			return shaped(x.Type, x.Shape[0], x.Shape[2], x.Shape[1])
		}
		return []Shaped{x}
	}
	shape := slices.Clone(x.Shape)
	for to, from := range orders[order] {
		shape[3-to] = x.Shape[3-slices.Index([]rune("whc"), from)]
	}
	return shaped(x.Type, shape...)
}
