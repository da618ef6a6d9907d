// Package transfer predicts the latencies of a new device from a few models
// measured on it and from what many devices took for all of them.
//
// It decides which models to measure ([Joint.Anchors]), those that leave the
// least doubt about the others, and predicts the rest by a joint normal
// distribution of the logarithms of all models' latencies over configurations: a
// board in one setting of threads, power and processor. Intervals come from how
// far off it was on chips that were left out. It refuses a table of fewer chips
// than folds, and never learns from a chip that it is judged on.
package transfer
