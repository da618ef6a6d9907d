// Package backtest compares estimates with actual totals of recorded series of steps, of
// which only the first fraction is used.
//
// For series it scores the total of each series once, by these methods: auto, the
// estimator of allox-est, with the other blocks as the past; alone, the same without a
// past; and last, the rate of a progress bar. Series of one job or one machine form one block in every
// interval. A table without the requested columns is an error; a row without a number
// becomes a diagnostic with file and line, and reading goes on.
package backtest
