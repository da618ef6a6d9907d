// Package uncertainty is the one way in which all the tools say how far a
// prediction may be off: a value with an interval, and how often that interval
// is promised to hold what comes.
//
// It makes intervals from past errors ([NewBand], [NewBands]: split conformal
// prediction), from a stream of them ([Adaptive]), from resampled units
// ([Bootstrap]) and from a few normal values ([Student]), and it judges whether
// promises were kept ([Judge]). The package coveragetest asks the same of a
// predictor where the truth is known.
//
// It refuses to make a promise from too few values: that is an error
// ([ErrTooFew]) or, in a stream that has only begun, an interval without ends.
// Measurements that overlap or repeat each other are one unit, a block; only
// the caller knows which those are.
package uncertainty
