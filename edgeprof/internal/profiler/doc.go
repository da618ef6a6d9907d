// Package profiler predicts the time of one inference of a model on a device.
//
// The prediction is a sum over the model's nodes: each costs a start, its
// multiply-accumulates and the bytes it moves, at rates that a [Calibration] measured for
// its class of operator on that device. The interval comes from the errors of
// such sums on families of models that the rates were not fitted to. A calibration with
// too few measurements is an error ([ErrTooFew]); a model unlike the measured ones gets a
// warning ([ErrUnlike]). [Calibration.ForThreads] gives the rates of another number of threads.
//
// A model that ran on this machine is predicted by its [Profile]: each kernel takes its time
// here, times the ratio of two devices' rates.
package profiler
