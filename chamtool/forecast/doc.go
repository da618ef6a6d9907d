// Package forecast predicts the load of the next iterations from those before.
//
// Loads are positive, often periodic, and few at first. The package decides for
// its caller: everything is fitted to logarithms, so that errors are relative;
// the autoregression is fitted to absolute errors (iteratively reweighted least
// squares) and drawn a little towards "as one period ago", so that a few rows
// cannot make it explode; an autoregression that would grow without bound is
// not used; and Auto serves what was closest on the last part of the history,
// held back. It refuses histories that are too short ([ErrTooFew]) and loads
// that are not above zero ([ErrLoad]).
package forecast
