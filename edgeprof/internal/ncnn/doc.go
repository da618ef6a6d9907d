// Package ncnn reads the graphs of ncnn, a runtime for phones and boards: text files with
// one layer per line (MODEL.param), whose weights are in other files.
//
// Layers become ONNX operators, so counts, kernels and predictions work as for ONNX
// models. Layers without an ONNX operator keep their names in a domain of their own and
// the shapes that the file hints at. A file without the format's number, or with counts or
// blobs that do not agree, is an error ([ErrSyntax]).
package ncnn
