// Package worker runs models in a process of its own.
//
// It decides how a model's run time is kept apart from the program that
// measures it: native code that crashes ends the worker and not its caller,
// the processors it may use are set before it starts, and its share of them
// can be cut. Times are taken inside the worker, so that what crosses the pipe
// costs nothing. It refuses a worker that answers anything but the protocol.
//
// The worker's side is [Serve] over a [Loader]; the caller's is [Start]:
//
//	session, err := worker.Start(ctx, worker.Command{Path: "edgeprof-ort"}, worker.Model{Path: "resnet18.onnx", Threads: 1})
//	defer session.Close()
//	seconds, err := session.Time(ctx, inputs, 100)
package worker
