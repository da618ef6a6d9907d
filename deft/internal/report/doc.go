// Package report summarises an experiment and the cost of sharing.
//
// A [Run] is the outcome of one experiment, with a [Model] for each process in the order of
// the configuration; deft run prints it and stores it as run.json. [Run.CompareWith]
// compares it with the same models alone on the device: inflation is the shared mean
// completion time over that alone, less 1.
//
// An experiment without a finished job is an error ([ErrNoJobs]).
//
// Logs of completion times, one row per job, have Deft's columns: start and end in ns on a
// clock that all processes of an experiment share, jct_ms, and two of device memory, which
// may be absent. The first row is the warm-up and is not counted, as in Deft's readers. A
// quantile is interpolated between the two nearest jobs, as NumPy does by default. An
// unreadable row is a diagnostic and the other rows count. The chart has Deft's axes.
package report
