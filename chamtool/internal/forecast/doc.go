// Package forecast predicts the load of the next iterations from those before.
//
// Loads are positive, often periodic, and few at first. All models work on logarithms, so
// errors are relative. The answer is a mixture of the load one period ago and the median of the
// loads whole periods ago, weighted by the error of each, so no forecast leaves the observed
// range. A history that is too short ([ErrTooFew]) and loads of 0 or less ([ErrLoad]) are errors.
package forecast
