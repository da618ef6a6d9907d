// Package readme writes the measured block of README.md: the two commands and
// their true output, taken from the results that `make tour` and `make test`
// left behind. The results are stored beside this package, so that every
// figure in the block can be traced to a machine, a commit and a count.
package readme
