// Package linear fits regressions whose prediction is a weighted sum of the
// features: least squares ([OLS], weighted by the samples' weights) and non-negative
// least squares ([NNLS]).
//
// The package decides how to compute: least squares by QR of centred and scaled
// columns, never by the normal equations. It gives a prediction interval where a
// theory gives one (least squares), and infinite bounds elsewhere; the package
// uncertainty measures intervals for the others.
//
// It refuses features that are constant beside an intercept, or that others
// determine: their coefficients would be arbitrary. Missing values are refused
// by all of its models.
//
//	s, err := regression.NewSamples([][]float64{{1}, {2}, {3}, {4}}, []float64{2.1, 3.9, 6.2, 7.8})
//	if err != nil {
//		return err
//	}
//	m, err := linear.OLS{}.Fit(ctx, s)
//	if err != nil {
//		return err
//	}
//	fmt.Printf("y = %.2f + %.2f x, noise %.2f\n", m.Intercept, m.Coefficients[0], m.Doubt.Sigma)
package linear
