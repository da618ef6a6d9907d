// Package rivals measures the tools beside what else people use, in turn, in the
// same run, and says where they lose.
//
// It decides how a comparison is told: by the ratio of each round, ours over the
// rival's, so that a machine that changes its speed changes both. It refuses none
// of its rivals: one that is not installed is named and left out.
package rivals
