// Package coveragetest asks of predictors, on data whose truth is known, the
// coverage that they promise.
//
// It decides how many data sets are needed to see a tail that is 5 points off,
// and refuses to pass a predictor whose data cannot show that.
package coveragetest
