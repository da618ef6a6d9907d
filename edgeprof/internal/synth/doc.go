// Package synth makes .onnx models of well-known families with random weights, in any
// size. They replace published models when measuring devices: latency depends on a model's
// structure and shapes and hardly on the values of its weights, as long as none is
// denormal.
//
// The structure of each family follows its paper; width, depth and resolution scale it. A
// size that leaves a layer without output is an error ([ErrSize]).
//
//	m, err := synth.New("resnet", synth.Size{Depth: 18, Resolution: 64})
//	err = onnx.Write(file, m, synth.RandomWeights(1))
package synth
