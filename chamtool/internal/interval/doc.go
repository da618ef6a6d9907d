// Package interval tracks the ends of the intervals of a stream of predictions, each of whose
// outcomes arrives before one of the next.
//
// Up to a few errors, 19 for a level of 0.9, the ends are the largest errors on each side. Then
// each end is a tracked quantile (Angelopoulos, Candès and Tibshirani, "Conformal PID Control
// for Time Series Prediction", NeurIPS 2023, section 2.1): an outcome beyond it moves it
// outwards and any other inwards, so in the long run it misses its part of the outcomes,
// whatever they do. Steps are shares of the distance. An outcome is compared with the present
// ends, not with those of its prediction: many predictions may be waiting for theirs.
package interval
