// Package nodetest writes the models of ONNX's node tests, which the generator of the onnx
// package makes, with the inputs and outputs of each. The test is skipped if the package
// is not installed.
package nodetest
