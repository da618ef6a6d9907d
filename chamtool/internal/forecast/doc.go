// Package forecast predicts the load of the next iterations from those before.
//
// Loads are positive, often periodic, and few at first. All models work on logarithms, so
// errors are relative. The autoregression is drawn slightly towards "as one period ago" and
// no forecast leaves the observed range by more than a factor of e, so it cannot explode on a
// few rows. Auto is a mixture of all models, weighted by the error of each. A history that is
// too short ([ErrTooFew]) and loads of 0 or less ([ErrLoad]) are errors.
package forecast
