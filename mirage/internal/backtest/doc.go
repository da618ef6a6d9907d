// Package backtest predicts the wait of each job of a log from the entries before its
// submission, and compares the predictions with the actual waits.
//
// A prediction is the mean of simple forecasts (the latest waits of the user, of the
// user's jobs with that shape, of jobs of about that size, of all jobs, and the start if
// the queue were served as a list), plus a correction by boosted trees over the state of
// the queue and the user's past, which are refitted as jobs start. The first hundred
// jobs have no correction. Past errors give the interval and the probability of a start
// by any time (quantile tracking, see [uncertainty.Curve]). All commands that predict
// waits from a log use the same [Forecaster]. Run compares it with the simple forecasts,
// with intervals over spans of time. Nothing that happens at or after a submission is
// used for its prediction.
package backtest
