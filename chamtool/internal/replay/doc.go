// Package replay evaluates the models on logs.
//
// [Run] gives a log's runs to a session as a running program's, with the same models and scores,
// in the order in which the tracker of its rings would. Each log is one rank, as recorded, and
// every run is predicted from the runs that had ended before it started. A first part of each
// log can be left out of the scores. Simple rules are scored on the same runs.
//
// A log of n runs takes time in n log n and about 130 bytes a run. Logs without runs
// ([ErrNoRuns]) and without a prediction to score ([ErrUnpredicted]) are errors.
package replay
