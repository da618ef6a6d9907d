// Package runtime runs ONNX models and says how long each node took.
//
// It decides nothing about speed: which run time is used is a recorded fact of
// every measurement, since the same model on the same device differs by orders
// of magnitude between them. Package native is the one that needs nothing
// installed.
package runtime
