// Package stats has the order statistics of the tools, each definition once. For
// moments use gonum's stat.
//
// The functions need at least one value, no NaN, and fractions from 0 to 1. They
// panic otherwise, as gonum's do: check first.
package stats
