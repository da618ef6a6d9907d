// Package trace reads and writes the accounting logs of batch systems.
//
// It recognises the layout of a file (the two Mirage layouts, the output of sacct, the
// Standard Workload Format), converts local wall-clock times to UTC, and
// selects the usable rows. Nothing is lost silently: an unusable row is a [dataset.SyntaxError] with file and line, a row that is not a job
// that ran is counted by reason, and a file without any usable row is an error.
//
// All times are Unix seconds in UTC, all durations seconds.
package trace
