// Package runtime defines a session of a model in ONNX Runtime, which reports the time of
// each node.
//
// Package worker runs it in a process of its own. Without ONNX Runtime the error matches
// [ErrUnavailable].
package runtime
