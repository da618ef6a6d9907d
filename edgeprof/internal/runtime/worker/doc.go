// Package worker runs models in a process of its own.
//
// Native code that crashes ends the worker and not its caller; the CPUs that the model
// may use are set before the worker starts. Times are taken inside the worker, so they do not include the pipe. A worker that
// answers with anything but the protocol's messages is an error ([ErrProtocol]).
//
// The worker's side is [Serve] over a [Loader]; the caller's side is [Start]:
//
//	session, err := worker.Start(ctx, worker.Command{Path: "edgeprof-ort"}, worker.Model{Path: "resnet18.onnx", Threads: 1})
//	defer session.Close()
//	seconds, err := session.Time(ctx, inputs, 100)
package worker
