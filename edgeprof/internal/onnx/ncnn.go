package onnx

import "slices"

// ncnnOperators are layers of ncnn that ONNX has no operator for.
var ncnnOperators = table{
	"ncnn.Flatten ncnn.Slice ncnn.Crop ncnn.Padding ncnn.Reshape ncnn.Interp": {shape: typeOnly, class: ClassMove},
	"ncnn.ShuffleChannel ncnn.Noop":                                           {shape: first, class: ClassMove},
	"ncnn.Permute":                                                            {shape: permuted, class: ClassMove},
	"ncnn.Reduction":                                                          {shape: typeOnly, class: ClassNormalize},
	"ncnn.PriorBox ncnn.DetectionOutput ncnn.YoloDetectionOutput ncnn.Yolov3DetectionOutput": {shape: typeOnly},
}

// orders of a Permute of ncnn: where width, height and channels come from.
var orders = []string{"whc", "hwc", "wch", "cwh", "hcw", "chw"}

// permuted is a Permute: matrices are turned by order 1, images by all.
func permuted(c *call) []TensorInfo {
	x, order := c.input(0), c.node.Int("order", 0)
	if !x.Known || len(x.Shape) < 3 || len(x.Shape) > 4 || order < 0 || order >= int64(len(orders)) {
		return typed(x.Type)
	}
	if len(x.Shape) == 3 {
		if order == 1 {
			return shaped(x.Type, x.Shape[0], x.Shape[2], x.Shape[1])
		}
		return []TensorInfo{x}
	}
	shape := slices.Clone(x.Shape)
	for to, from := range orders[order] {
		shape[3-to] = x.Shape[3-slices.Index([]rune("whc"), from)]
	}
	return shaped(x.Type, shape...)
}
