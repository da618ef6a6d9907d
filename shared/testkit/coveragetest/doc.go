// Package coveragetest checks the coverage of predictors on data whose truth is
// known. It draws as many data sets as show a tail that is 5 points off; a
// predictor whose data cannot show that fails.
package coveragetest
