// Package pair predicts the speed of a program next to another one on the same device, from
// measured pairs.
//
// It chooses the measured pairs that are most similar to a new one: those of the nearest
// relatives, programs whose names differ only in numbers (a batch size, a depth). The
// prediction is the mean of the two nearest (k nearest neighbours, Fix and Hodges 1951), or
// the measurement of this very pair; for a program without relatives it is the mean of all
// measurements next to the other program. Its interval is conformal, from the errors of the
// measured pairs with one program left out at a time, separately for programs with and
// without relatives.
//
// A device with too few pairs to estimate the error is an error.
package pair
