// Package collection measures real inferences, and keeps what they were
// measured under.
//
// It decides what a row is: one inference of one model in one [Setting] (run
// time, threads, processors, quota, background load), with the model's
// characteristics and the machine's state at that moment, in the columns of the
// original collector and some more; and, in a second table, the time of each
// [onnx.Kernel]. Rows are appended as they come and a run that was broken off,
// however that happened, goes on where it stopped. It refuses a setting that the
// machine does not have.
//
//	c := collection.Collector{Dir: "data", Open: open, Host: host}
//	err := c.Collect(ctx, collection.Job{Model: "resnet18.onnx", Setting: collection.Setting{Runtime: "ort", Threads: 1}, Iterations: 100})
//	rows, err := collection.ReadDir("data")
package collection
