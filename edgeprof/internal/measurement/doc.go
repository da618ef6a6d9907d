// Package measurement defines the rows in which measured inferences are stored.
//
// A row is one inference of one model in one [Setting] (threads, CPUs, background
// load), with the model's characteristics and the machine's state at that
// moment, in the columns of the original collector and some more. A second table has one
// row per [Kernel]. [Table] appends rows to a file that stays readable if the process is
// killed; [ReadDir] reads them. Appending to a file with different columns is an error
// ([ErrColumns]) and leaves the file unchanged.
package measurement
