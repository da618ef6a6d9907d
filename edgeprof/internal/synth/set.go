package synth

import (
	"fmt"
	"slices"
)

// NamedModel is one model of the [TrainingSet].
type NamedModel struct {
	Name   string // of the file, without .onnx: resnet-d34-w0.5-r96
	Family string
	Size   Size
}

// TrainingSet returns models of every family in four sizes, from tens of microseconds to
// tenths of a second on one processor, and chains of operators: enough to train
// a predictor on.
func TrainingSet() []NamedModel {
	var out []NamedModel
	for _, f := range []struct {
		family string
		sizes  []Size
	}{
		{"alexnet", []Size{{Width: 0.25, Resolution: 112}, {Width: 0.35, Resolution: 96}, {Width: 0.5, Resolution: 160}, {Width: 0.5, Resolution: 224}}},
		{"densenet", []Size{{Width: 0.25, Resolution: 64}, {Width: 0.5, Resolution: 96}, {Width: 0.75, Resolution: 128}, {Width: 0.5, Depth: 169, Resolution: 160}}},
		{"efficientnet", []Size{{Width: 0.4, Resolution: 64}, {Width: 0.6, Resolution: 112}, {Width: 0.75, Resolution: 160}, {Width: 1, Resolution: 224}}},
		{"googlenet", []Size{{Width: 0.4, Resolution: 64}, {Width: 0.6, Resolution: 112}, {Width: 0.75, Resolution: 160}, {Width: 1, Resolution: 224}}},
		{"lenet", []Size{{Width: 1, Resolution: 28}, {Width: 2, Resolution: 32}, {Width: 4, Resolution: 64}, {Width: 8, Resolution: 96}}},
		{"lstm", []Size{{Width: 0.5, Resolution: 32}, {Width: 1, Resolution: 16}, {Width: 1, Resolution: 64}, {Width: 2, Depth: 1, Resolution: 48}}},
		{"mlp", []Size{{Width: 0.5, Depth: 5, Resolution: 28}, {Width: 1, Resolution: 28}, {Width: 3, Depth: 5, Resolution: 32}, {Width: 6, Resolution: 48}}},
		{"mobilenetv2", []Size{{Width: 0.5, Resolution: 64}, {Width: 0.75, Resolution: 128}, {Width: 1, Resolution: 160}, {Width: 1.4, Resolution: 224}}},
		{"resnet", []Size{{Width: 0.25, Resolution: 64}, {Width: 0.5, Depth: 34, Resolution: 96}, {Width: 0.5, Depth: 50, Resolution: 128}, {Width: 1, Resolution: 128}}},
		{"transformer", []Size{{Width: 0.5, Depth: 2, Resolution: 64}, {Width: 1, Depth: 3, Resolution: 96}, {Width: 1, Depth: 6, Resolution: 32}, {Width: 2, Depth: 2, Resolution: 128}}},
		{"vgg", []Size{{Width: 0.25, Depth: 11, Resolution: 64}, {Width: 0.25, Resolution: 96}, {Width: 0.5, Depth: 11, Resolution: 128}, {Width: 0.5, Depth: 13, Resolution: 96}}},
		{"operators", []Size{
			{Width: 0.125, Resolution: 16}, {Width: 0.25, Resolution: 256}, {Width: 0.5, Resolution: 32}, {Width: 1, Depth: 3, Resolution: 16}, {Width: 1, Resolution: 64},
			{Width: 2, Depth: 1, Resolution: 128}, {Width: 3, Depth: 1, Resolution: 64}, {Width: 4, Depth: 1, Resolution: 32},
		}},
		{"operators-bytes", slices.Concat(sizesAt(0.25, 16, 48), sizesAt(0.5, 16, 32), sizesAt(1, 16, 32, 64))},
		{"operators-images", slices.Concat(sizesAt(0.06, 16, 32, 64, 128), sizesAt(0.12, 16, 24, 48, 96, 160), sizesAt(0.25, 24, 32, 64, 96, 128, 224), sizesAt(0.5, 32, 48, 64, 96, 128, 160, 224), sizesAt(1, 32, 64, 96, 128, 224))},
		{"operators-responses", []Size{{Width: 0.5, Resolution: 14}, {Width: 1, Resolution: 28}, {Width: 1.5, Resolution: 56}}},
		{"operators-sequences", slices.Concat(sizesAt(0.25, 16, 32, 64, 128), sizesAt(0.5, 16, 32, 64, 128), sizesAt(1, 16, 32, 64, 128), sizesAt(2, 16, 32, 64, 128))},
		{"operators-signals", slices.Concat(sizesAt(0.25, 500, 4000), sizesAt(0.5, 1000, 8000), sizesAt(1, 200, 2000, 16000))},
		{"operators-vectors", slices.Concat(sizesAt(0.12, 16, 28), sizesAt(0.25, 28, 48), sizesAt(0.5, 16, 32, 64), sizesAt(1, 28, 48, 64), sizesAt(2, 28, 64), sizesAt(4, 48))},
		{"operators-volumes", slices.Concat(sizesAt(0.25, 8, 24), sizesAt(0.5, 12, 32), sizesAt(1, 8, 16, 24))},
	} {
		for _, s := range f.sizes {
			name := f.family
			if s.Depth > 0 {
				name += fmt.Sprintf("-d%d", s.Depth)
			}
			out = append(out, NamedModel{fmt.Sprintf("%s-w%g-r%d", name, s.Width, s.Resolution), f.family, s})
		}
	}
	return out
}

// sizesAt returns one width at some resolutions.
func sizesAt(width float64, resolutions ...int64) []Size {
	var sizes []Size
	for _, r := range resolutions {
		sizes = append(sizes, Size{Width: width, Resolution: r})
	}
	return sizes
}
