// Package backtest predicts how long each job of a log will wait, from what the
// log shows at its submission and nothing later, and judges the forecasts by how
// long the jobs waited.
//
// It decides what a forecast is made of: boosted trees over the state of the
// queue and the past of the user, refitted every day, beside plain experts (the
// latest waits of the user, of the user's jobs of that shape, of jobs of such
// size, and how fast the user's own backlog drains), mixed by how far off each
// has been; and an adaptive conformal interval. Its judge sets simple forecasts
// beside it, with intervals over spans of time. It refuses to know anything that
// happens at the instant of a submission or after it.
package backtest
