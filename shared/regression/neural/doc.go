// Package neural fits regressions with a neural network, a mixture of experts,
// trained on the CPU by gomlx. It is the only package of the library that imports gomlx,
// and turns its panics into errors.
//
// Features and target are standardised, some rows are held out, and the batch size is
// fixed (each new shape would compile a new graph). The weights kept are those of the
// epoch with the smallest error on the held-out rows. The same samples, settings and
// seed give the same network on the same build.
//
// Missing values and weights are errors. A network has no interval of its own: measure
// one with uncertainty.NewBand on samples that the network has not seen.
//
//	net, err := neural.Mixture{Training: neural.Training{Seed: 1}}.Fit(ctx, samples)
//	if err != nil {
//		return err
//	}
//	p, err := net.Predict(row)
package neural
