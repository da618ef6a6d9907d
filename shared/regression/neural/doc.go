// Package neural fits regressions with a neural network, a mixture of experts,
// trained on the processor by gomlx. It is the only package of the library that knows gomlx;
// its panics become errors at this package's edge.
//
// The package decides how a network is trained: features and target are
// standardised, a share of the rows is held out, the batch size is fixed (each
// new shape would compile a new graph), and the weights kept are those of the
// epoch that did best on the rows held out. The same samples, settings and seed
// give the same network on the same build.
//
// It refuses missing values and weights, and it gives no interval of its own:
// measure one with [regression.Calibrate] on samples that the network has not
// seen.
//
//	net, err := neural.Mixture{Training: neural.Training{Seed: 1}}.Fit(ctx, samples)
//	if err != nil {
//		return err
//	}
//	p, err := net.Predict(row)
package neural
