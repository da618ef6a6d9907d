// Package tree fits gradient boosted trees ([Boost]) to samples, on a histogram grower.
//
// The settings, their names and their defaults are XGBoost's (Chen and Guestrin,
// "XGBoost: A Scalable Tree Boosting System", KDD 2016); models are read from and
// written to XGBoost's own JSON.
//
// Gradients are summed as integers, so the same samples, settings and seed give the
// same bytes for any number of threads. NaN features are missing values, in fitting
// and prediction. Infinite numbers are errors, and so are a categorical feature with
// codes that cannot be distinguished, and a model file that would read out of bounds or
// never end.
//
//	samples, err := regression.NewSamples(rows, targets)
//	model, err := tree.Boost{Rounds: 145, Eta: 0.1}.Fit(ctx, samples)
//	prediction, err := model.Predict(row)
package tree
