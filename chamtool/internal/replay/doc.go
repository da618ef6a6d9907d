// Package replay measures the models on logs.
//
// [Run] feeds a log through the online path: the same rings, tracker, models and
// scores that a running program has, with the log's runs as events. Each log is a
// rank of its own, as it was, and every run is predicted by what had ended before
// it started. [EvaluateTasks] and [EvaluateLoads] learn from one part of the logs
// and are judged by the rest: nothing of the judged part is learned from, logs of
// several ranks are pooled, and runs whose sizes were not in the training part are
// also judged apart.
//
// It refuses logs without runs ([ErrNoRuns]) and splits that leave a side empty
// ([ErrSplit]).
package replay
