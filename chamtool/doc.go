// Package chamtool will learn the run times of the tasks of an MPI+OpenMP program
// while it runs, and predict the rest. Nothing is built yet.
package chamtool
