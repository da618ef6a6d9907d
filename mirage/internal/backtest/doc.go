// Package backtest predicts the wait of each job of a log from the entries before its
// submission ([wait.Forecaster], which answers all questions about logs), and compares the
// predictions with the actual waits and with simple rules, with intervals over spans of
// time. Nothing that happens at or after a submission is used for its prediction.
package backtest
