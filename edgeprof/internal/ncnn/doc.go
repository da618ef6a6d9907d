// Package ncnn reads the graphs of ncnn, a run time for phones and boards: text
// files of one layer a line (MODEL.param), whose weights lie elsewhere.
//
// It decides which ONNX operators a layer comes to, so that all that is known of
// these holds for it: counts, kernels, predictions. Layers that ONNX has no
// operator for keep their names in a domain of their own, and the shapes that the
// file hints at. It refuses a file without the format's number, or whose counts
// or blobs do not agree.
package ncnn
