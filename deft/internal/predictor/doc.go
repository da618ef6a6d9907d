// Package predictor predicts what a synchronization interval N costs, and picks
// the N that costs least.
//
// A low-priority job with a synchronization point every N of its K launches is
// slowed by the host waiting K/N times, and an urgent job that arrives waits for
// what is still queued of those N. As in Deft (Tian Hao et al., Middleware 2023
// workshop) the two delays are
//
//	execution delay   a·K/N + b          a: cost of one point, b: the rest
//	preemption delay  r·min(N, q)·k      k: mean kernel time, q: most queued
//
// and of all N the least sum has [Interval], sqrt(2·a·K/k). Deft takes r = 1, the worst case;
// a request that comes at a random moment finds half of the kernels done, so
// r = 1/2 here. The package fits a and b against the number of points per job, by
// least squares to the means of a sweep ([FitSweep]). It needs jobs under two
// different intervals at least, and says so with an error that matches
// regression.ErrTooFew, ErrConstant or ErrCollinear instead of guessing.
package predictor
