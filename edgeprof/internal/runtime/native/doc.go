// Package native runs ONNX models in Go, on the CPU, in float32: convolutions as matrix
// products with gonum's BLAS or, built with GOEXPERIMENT=simd, gomlx's vector
// instructions. It needs no library and no C compiler, so edgeprof can measure on any
// machine.
//
// It chooses the layout in memory and frees each tensor after its last use. Unknown
// operators, data types other than float32 and shapes that depend on the data are errors
// ([runtime.ErrUnsupported]).
//
//	model, err := onnx.ReadFile("resnet18.onnx")
//	session, err := native.Load(model, file, onnx.Settings{}, time.Now)
//	out, err := session.Run(ctx, map[string]runtime.Tensor{"input": image})
package native
