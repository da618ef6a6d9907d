// Package linear fits regressions whose prediction is a weighted sum of the
// features: least squares ([OLS], weighted by the samples' weights) and non-negative
// least squares ([NNLS]).
//
// Least squares uses QR of centred and scaled columns, never the normal equations.
// Its predictions have an interval by theory; NNLS gives infinite bounds, and the
// package uncertainty measures intervals for it.
//
// Features that are constant next to an intercept, or that others determine, are
// errors: their coefficients would be arbitrary. So are missing values.
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
