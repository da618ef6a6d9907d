// Package timing measures how long work takes: laps on an injected clock, the
// time-writer protocol by which a training job reports its laps, the processor time
// and memory of a process tree, summaries of latencies, and the change of the
// machine's speed to expect after a measurement ([Change]).
//
// A report that is torn, that contradicts an earlier one in the same log, or that holds
// anything but finite times of zero or more is an error. The clock is always an argument.
//
// The protocol: a job marks its start and the end of each segment, and prints
// the segments' seconds as a Python list between two tags. A job of k epochs
// prints k+2 laps: set-up, the epochs, teardown.
//
//	<TIME_WRITTER_OUTPUT>[13.97, 8.2e-06, 2.09]</TIME_WRITTER_OUTPUT>
//
// A job that prints it:
//
//	w := timing.NewTimeWriter(os.Stdout, time.Now)
//	w.Start()
//	model := load()
//	for range epochs {
//		w.LogUpdate() // ends the set-up, then each epoch but the last
//		model.epoch()
//	}
//	w.LogUpdate() // ends the last epoch
//	model.save()
//	w.LogUpdate() // ends the teardown
//	w.PrintResults()
//
// A program that reads it:
//
//	out, err := timing.ParseOutput(log, Extend)
//	if err != nil {
//		return err // errors.Is(err, timing.ErrNoTag), ErrTruncated, ...
//	}
//	total := out.Total()
package timing
