// Package synth makes .onnx models of well-known families with random weights,
// in any size: material to measure devices with, where published models cannot
// be had. Latency depends on a model's structure and shapes, hardly on the
// values of its weights, so long as none is denormal.
//
// It decides the structure of each family from its paper; width, depth and
// resolution scale it. It refuses sizes that leave a layer without output.
//
//	m, err := synth.New("resnet", synth.Size{Depth: 18, Resolution: 64})
//	err = onnx.Write(file, m, synth.Weights(1))
package synth
