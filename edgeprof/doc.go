// Package edgeprof will predict on which edge device an ONNX model runs fastest.
// Nothing is built yet.
package edgeprof
