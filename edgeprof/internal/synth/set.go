package synth

import "fmt"

// NamedModel is one model of the [TrainingSet].
type NamedModel struct {
	Name   string // of the file, without .onnx: resnet-d34-w0.5-r96
	Family string
	Size   Size
}

// TrainingSet returns models of every family in four sizes, from tens of microseconds to
// tenths of a second on one processor: enough to train a predictor on.
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
