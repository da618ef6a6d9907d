// Package estimate estimates the time of a job from short runs of it.
//
// It separates a job's set-up, warm-up, steady epochs, costly epochs and teardown, corrects for
// other work on the machine, and computes the interval. No run, runs of one length for a fitted line, and values that are not finite
// are errors. What the runs cannot show becomes warnings.
package estimate
