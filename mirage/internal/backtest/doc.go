// Package backtest predicts how long each job of a log will wait, from what the
// log shows at its submission and nothing later, and judges the forecasts by how
// long the jobs waited.
//
// It decides what a forecast is made of: the mean of what a person would look at
// (the latest waits of the user, of the user's jobs of that shape, of jobs of such
// size and of all, and when the queue, served as a list, comes to the job), which is
// all there is for the first hundred jobs, and boosted trees over the state of the
// queue and the past of the user, fitted again and again to what is to be added to
// it. How far off forecasts were makes the interval and the chance of a start by any
// time (quantile tracking, see [uncertainty.Curve]). Everybody who asks for a wait in
// a log asks the one [Forecaster]. Its judge sets simple forecasts beside it, with
// intervals over spans of time. It refuses to know anything that happens at the
// instant of a submission or after it.
package backtest
