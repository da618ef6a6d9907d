// Package yardstick measures the machine's own speed: the processor time of a
// fixed piece of work.
//
// It decides for its caller what the work is (multiplications and additions
// over 256 KiB, a few milliseconds) and that only processor time counts, so
// that other work on the machine does not show. It refuses nothing: a virtual
// machine whose processor runs at another speed from minute to minute is what
// it is for.
//
// A complete program:
//
//	speed := yardstick.Measure() // seconds; half of it: twice as fast
package yardstick
