// Package runtime runs ONNX models and reports the time of each node.
//
// Every measurement records its runtime, since the same model on the same device differs
// by orders of magnitude between runtimes. Package native is the one that needs no
// installation.
package runtime
