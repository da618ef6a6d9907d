// Package edgeprof predicts on which edge device an ONNX model runs fastest.
// The command is in cmd/edgeprof.
package edgeprof
