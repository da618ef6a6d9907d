// Package model learns from samples how long a successor submitted now will wait.
//
// Its features are the summary of a history (the last snapshot, its changes, and the
// predecessor), the time of day and the queue's own predictions. Its target is the wait in hours, at the quantile that the cost of overlap
// makes optimal. Samples are split by time, with an embargo until outcomes are known,
// and the margin of a decision is the one with the least cost on the later training
// samples. Samples whose outcome was unknown at the end of training are not used, and a
// history that reaches past its decision is an error.
//
// A kind of model is one file, and a line in [Learners].
package model
