// Package trace reads and writes the accounting logs of batch systems.
//
// It decides for its caller which layout a file has (the two Mirage layouts,
// what sacct and squeue print, the Standard Workload Format, this project's own CSV),
// what a local wall-clock time means in UTC, and which rows can be used. It
// refuses to lose anything in silence: a row it cannot use is a
// [dataset.SyntaxError] with file and line, a row that is not a job that ran
// is counted by reason, and a file without any usable row is an error.
//
// All times are Unix seconds in UTC, all durations seconds.
package trace
