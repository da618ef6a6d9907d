// Package jct reads and writes logs of job completion times, one row a job, and
// summarises them.
//
// The columns are Deft's: start_timestamp_ns and end_timestamp_ns on a clock
// that all processes of an experiment share, jct_ms, and two of device memory,
// which older logs lack. The package decides that the first row is the warm-up
// job and does not count, as Deft's readers do, and that a quantile is
// interpolated between the two nearest jobs, as NumPy's default does. It refuses
// a log in which no job is left after the warm-up: the answer is [ErrNoJobs],
// never a mean of nothing. A row that cannot be read is a diagnostic, and the
// others count.
package jct
