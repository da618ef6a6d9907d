// Package replay evaluates the models on logs.
//
// [Run] replays a log through the online path: the same rings, tracker, models and scores as
// in a running program, with the log's runs as events. Each log is one rank, as recorded, and
// every run is predicted from the runs that had ended before it started. A first part of each
// log can be left out of the scores. Simple rules are scored on the same runs.
//
// A log of n runs takes time in n log n and about 130 bytes a run. Logs without runs
// ([ErrNoRuns]) and without a prediction to score ([ErrUnpredicted]) are errors.
package replay
