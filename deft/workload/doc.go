// Package workload knows what one job of a DNN model asks of a GPU: its
// kernels in launch order, with the time each takes on the device.
//
// It decides the kernel profile of a model at an input size, from a table
// embedded in the package, and how the workload program of package simcuda is
// called to run it. The simulator on the virtual clock reads the same profiles.
//
// It refuses a model that the table does not hold: the answer is an
// [*UnknownModelError] that lists the known ones, never a default. What a row
// of the table rests on is its [Source]; a profile of your own, measured on
// your own GPU, is read with [Parse].
package workload
