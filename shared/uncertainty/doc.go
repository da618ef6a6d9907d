// Package uncertainty computes the intervals of predictions: a value, two ends, and
// the probability that the truth lies between them.
//
// Intervals come from past errors ([NewBand], [NewBands]: split conformal
// prediction), from a stream of them ([Tracker], [Curve]), from resampled units
// ([Bootstrap]) or from a few normal values ([Student]). [Judge] measures the
// coverage of past intervals, and the package coveragetest that of a predictor on
// data whose truth is known.
//
// Too few values give no interval but an error ([ErrTooFew]). Measurements that overlap or repeat each other
// are one unit, a block; only the caller knows which those are.
package uncertainty
