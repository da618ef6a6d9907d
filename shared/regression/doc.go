// Package regression is the common frame for fitting, prediction and evaluation:
// samples, models, predictions with intervals, and error metrics.
//
// A [Fitter] is a recipe with its settings; it turns [Samples] into a [Model].
// The recipes are in the packages below this one (linear, tree, neural). This
// package has what they share: checks of the input, folds to validate with
// ([RowFolds], [GroupFolds]) and metrics ([Evaluate]). For models without intervals
// of their own, the package uncertainty measures them.
//
// Bad input is a typed error that names the row and column. A metric that is undefined
// for the data, such as a percentage error of actual values that are all zero, is NaN
// with a warning in [Metrics], and an error if computed by itself. A prediction without
// a known interval has infinite bounds, not bounds of zero width.
//
// Features are never imputed, scaled or dropped silently. NaN means "missing" only to
// models that say so, and every random choice takes its seed as an argument.
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
