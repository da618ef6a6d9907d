// Package deft shares one GPU between DNN jobs without slowing down the urgent one. The
// command is in cmd/deft, the library between programs and the CUDA driver in hook, the
// simulated GPU in simcuda.
package deft
