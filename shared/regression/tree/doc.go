// Package tree fits ensembles of decision trees to samples: gradient boosted
// trees ([Boost]) and random forests ([Forest]), on one histogram grower.
//
// The settings, their names and their defaults are XGBoost's (Chen and Guestrin,
// "XGBoost: A Scalable Tree Boosting System", KDD 2016), and models go both
// ways as XGBoost's own JSON.
//
// The package decides the bins of every feature, where missing values go, and
// when to stop. Gradients are summed as integers, so the same samples, settings
// and seed give the same bytes for any number of threads. NaN features are
// missing values, to fit and to predict. It refuses infinite numbers, a
// categorical feature with codes it cannot tell apart, and any model file that
// would read out of bounds or never end.
//
//	samples, err := regression.NewSamples(rows, targets)
//	model, err := tree.Boost{Rounds: 145, Eta: 0.1}.Fit(ctx, samples)
//	prediction, err := model.Predict(row)
package tree
