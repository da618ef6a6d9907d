// Package jobs has example training jobs for the estimator: small networks that really
// learn on the CPU, for any number of epochs, and report their laps by the time-writer
// protocol of shared/timing.
//
// The jobs are "lenet" and "googlenet", the architectures of those names for images of
// 28x28 and 32x32. Images are generated from a seed in the set-up. The set-up ends with a
// first step, because that step builds and compiles the graph, which would slow epoch 1. The
// teardown scores the network on unseen images and writes a checkpoint. The same options and
// the same build give the same checkpoint, byte for byte.
//
// Jobs run on the CPU; asking for a GPU returns [ErrDeviceUnavailable].
package jobs
