// Package forecast predicts the load of the next iterations from those before.
//
// Loads are positive, often periodic, and few at first. The package decides for
// its caller: everything is of logarithms, so that errors are relative; the
// autoregression is drawn a little towards "as one period ago" and no forecast
// leaves what was seen by more than a factor of e, so that a few rows cannot make
// it explode; and Auto is a mixture of all ways, weighed by how far off each was.
// It refuses histories that are too short ([ErrTooFew]) and loads that are not
// above zero ([ErrLoad]).
package forecast
