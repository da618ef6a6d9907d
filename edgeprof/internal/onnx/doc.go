// Package onnx reads the graph of an .onnx file without its weights, and writes models.
//
// It infers the shapes of tensors as far as they follow from the file, and from these the
// counts ([Analysis.Characteristics]) that determine the time of an inference. It reads
// the protobuf wire format of ONNX (onnx/onnx.proto, IR version 3 to 12) directly and
// steps over the weights, so a model of any size costs little.
//
// A file that is no model is an error that names the byte and the field. Memory is bounded
// whatever lengths a file claims. The package never follows a path in a file, and it does
// not check that a model is valid: only running the model does.
package onnx
