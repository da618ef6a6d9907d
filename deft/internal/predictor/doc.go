// Package predictor predicts the delay caused by a synchronization interval N, and picks
// the N with the smallest delay.
//
// A low-priority job with a synchronization point every N of its K launches is
// slowed by K/N waits of its host, and an arriving urgent job waits for the part of those N
// that is still queued. As in Deft (Tian Hao et al., Middleware 2023
// workshop) the two delays are
//
//	execution delay   a·K/N + b          a: cost of one point, b: everything else
//	preemption delay  r·min(N, q)·k      k: mean kernel time, q: most queued
//
// and [Interval], sqrt(2·a·K/k), has the smallest sum. Deft uses r = 1, the worst case; a
// request that arrives at a random moment finds half of the kernels done, so r = 1/2 here. The package fits a and b against the number of points per job, by
// least squares to the means of a sweep ([FitSweep]). It needs jobs under two different
// intervals or more; otherwise it returns an error that matches regression.ErrTooFew,
// ErrConstant or ErrCollinear.
package predictor
