// Package pair predicts what a program pays beside another on one device, from
// pairs that were measured.
//
// It decides for its caller which measured pairs tell of a new one: those of the
// nearest relatives, programs whose names differ from it in numbers alone (a
// batch size, a depth). The prediction is the mean of the two nearest (k nearest
// neighbours, Fix and Hodges 1951), or what was measured of this very pair; where a program has no relative, the mean of
// all that the other one was measured beside. Its interval is conformal, from the
// errors of the measured pairs with one program left out at a time, apart for
// those with and without relatives.
//
// It refuses to predict for a device without enough pairs to tell its own error.
package pair
