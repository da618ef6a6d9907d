// Package journal keeps what runs of jobs cost in a file of one JSON object
// per line, to which lines are only ever added.
//
// It decides for its caller that a line is on the disk before the next run
// starts, and what a file that ends in the middle of a line means (the line is
// lost, nothing else). It refuses to open a file that another process adds to,
// and it names each line it cannot read.
package journal
