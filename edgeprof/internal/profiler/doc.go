// Package profiler predicts how long one inference of a model takes on a
// device.
//
// It decides by the model's nodes: each costs a start, its multiply-accumulates
// and the bytes it moves, at rates that a [Calibration] measured for its class
// of operator on that device and run time; the model's time is their sum. The
// interval comes from how far off such sums were on models of families that the
// rates were not fitted to. It refuses a calibration with too few measurements,
// and says so when a model is unlike those it was calibrated with.
package profiler
