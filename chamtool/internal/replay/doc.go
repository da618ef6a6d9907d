// Package replay evaluates the models on logs.
//
// [Run] replays a log through the online path: the same rings, tracker, models and scores as
// in a running program, with the log's runs as events. Each log is one rank, as recorded, and
// every run is predicted from the runs that had ended before it started. [EvaluateTasks] and
// [EvaluateLoads] learn from one part of the logs and predict the rest. They learn nothing
// from the predicted part, pool the logs of several ranks, and report runs with sizes that
// are not in the training part separately too.
//
// Logs without runs ([ErrNoRuns]) and splits with an empty side ([ErrSplit]) are errors.
package replay
