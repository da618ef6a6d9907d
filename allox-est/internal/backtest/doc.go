// Package backtest holds estimates against what was measured to its end: series of
// steps, of which the first share is seen, and, in an Experiment, whole runs of jobs
// beside short samples.
//
// Of series it decides for its caller what is judged (the sum over a series, each series
// once) and beside what: auto, as allox-est estimates; conformal, one factor that held
// the other series; and last, what a progress bar tells.
// Series of one job or one machine are one block in every interval. It refuses a
// table without the columns asked for, and goes on after a row that holds no
// number, which becomes a diagnostic with file and line.
package backtest
