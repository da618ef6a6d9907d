// Package experiment compares ways of estimating: methods and sizes of samples,
// on several jobs, against whole runs of them.
package experiment
