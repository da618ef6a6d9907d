// Package prediction predicts the time of a model on devices as they are loaded now. The
// commands and the HTTP service call it, so one model on one device has one answer.
//
// A [Predictor] is a set of rates that were measured ([Calibrated]) or a model that was
// trained on counts ([Counts]); [Read] makes one from a file. Its [Fleet] contains devices
// with the rates of each, and ranks them. A [Catalog] finds the rates: a device's own
// file, the file of this machine, or the built-in rates. A device whose rates cannot be
// read or are all zero is excluded with the reason.
package prediction
