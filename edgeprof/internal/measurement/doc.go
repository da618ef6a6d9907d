// Package measurement is the rows that inferences are kept as.
//
// It decides what a row is: one inference of one model in one [Setting] (run
// time, threads, processors, quota, background load), with the model's
// characteristics and the machine's state at that moment, in the columns of the
// original collector and some more; and, in a second table, each [Kernel].
// [Table] appends rows to a file that a killed process leaves readable;
// [ReadDir] reads what is there. It refuses to append to a file with other
// columns, and leaves it as it was.
package measurement
