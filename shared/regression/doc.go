// Package regression is the frame every estimator of Foretime is fitted, asked
// and judged in: samples in, a model out, a prediction with its doubt, and
// metrics that say how far off the predictions were.
//
// A [Fitter] is a recipe with its settings; it turns [Samples] into a [Model].
// The recipes live in the packages below this one (linear, tree, neural). What
// they share lives here: checks of the input, folds to validate with
// ([RowFolds], [GroupFolds]) and scores ([Evaluate]). Intervals for models that
// have none of their own are made in the package uncertainty.
//
// The package decides how undefined cases are answered. Bad input is a typed
// error that names the row and column. A metric that does not exist for the
// data at hand, such as a percentage error of actual values that are all zero,
// is NaN in [Metrics] together with a warning, and an error when it is asked
// for by itself. A prediction without a known interval has infinite bounds, not
// bounds of zero width.
//
// It refuses to guess: features are never imputed, scaled or dropped behind the
// caller's back, NaN means "missing" only to models that say so, and whatever
// is random takes its seed as an argument.
//
//	s, err := regression.NewSamples([][]float64{{1}, {2}, {3}, {4}}, []float64{2.1, 3.9, 6.2, 7.8})
//	if err != nil {
//		return err
//	}
//	m, err := linear.OLS{}.Fit(ctx, s)
//	if err != nil {
//		return err
//	}
//	p, err := m.Predict([]float64{5})
//	if err != nil {
//		return err
//	}
//	fmt.Printf("%.2f, in [%.2f, %.2f] 95 times of 100\n", p.Value, p.Low, p.High)
package regression
