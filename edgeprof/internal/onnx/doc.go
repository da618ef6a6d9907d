// Package onnx reads what a model is from its .onnx file, and writes models.
//
// It decides what a profiler needs to know of a file: the graph, the shapes of
// its tensors as far as they follow from the file, and from these the counts
// ([Analysis.Characteristics]) that a run time depends on. It reads the protobuf wire
// format of ONNX (onnx/onnx.proto, IR version 3 to 12) straight from the file
// and steps over the weights, so that a model of any size costs little.
//
// It refuses what is no model with an error that names the byte and the field,
// and keeps memory in bounds whatever lengths a file claims. It never follows
// a path that a file names, and it does not check that a model is valid: only
// running it does that.
package onnx
