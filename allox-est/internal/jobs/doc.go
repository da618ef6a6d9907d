// Package jobs holds training jobs to estimate: real networks that learn real
// classes on the processor, made to be run whole or for a few epochs, and to tell
// their laps through the time-writer protocol of shared/timing.
//
// The jobs are "mlp", "lenet", "alexnet" and "googlenet": the last two are the
// architectures of those names shrunk to images of 32x32. The package decides
// what a job does: images are drawn from a seed in the set-up, so that no file is
// needed, or read from published data sets where a folder of them is given; the
// set-up ends with a first step, which builds and compiles the
// graph, so that it does not land in epoch 1; the teardown scores the network on
// images it has not seen and writes a checkpoint. The same options give the same
// checkpoint, byte for byte, on the same build.
//
// It refuses to pretend: a job asked to run on a GPU fails with
// [ErrDeviceUnavailable].
//
//	err := jobs.Run(ctx, "lenet", jobs.Options{Epochs: 8, Threads: 1, Out: os.Stdout, Dir: scratch})
//	if errors.Is(err, jobs.ErrDeviceUnavailable) {
//		...
//	}
package jobs
