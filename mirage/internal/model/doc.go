// Package model learns, from samples, how long a successor submitted now will
// wait.
//
// It decides what a model sees of a history ([Summary]: the last snapshot,
// how it changed, and the predecessor), what it learns (the wait in hours,
// aimed at the quantile that the cost of overlap makes best), how samples are
// split (by time, with an embargo as long as an outcome takes to become
// known), and by how much a decision leans towards early or late (the margin
// with the least cost on the later part of the training samples). It refuses
// to learn from samples whose outcome was not known by the date that training
// ends, and from histories that know the future.
//
// A kind of model is one file, and a line in [Learners].
package model
