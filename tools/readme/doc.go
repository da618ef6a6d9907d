// Package readme writes the measured block of README.md: the two commands and their
// true output, from the results of `make tour` and `make test`. The results are
// stored next to this package, so every figure in the block can be traced to a
// machine, a commit and a count.
package readme
