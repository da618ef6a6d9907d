// Package deft shares one GPU between DNN jobs without hurting the urgent one.
// The command is in cmd/deft, the library that stands before the CUDA driver in
// hook, the simulated GPU in simcuda.
package deft
