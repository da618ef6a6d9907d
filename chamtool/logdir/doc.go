// Package logdir finds the folder in which a job may write its logs without
// touching those of another.
//
// It decides by a file in the log folder that says whose it is: the first
// process of a job that comes there takes it, where no logs lie yet. All
// processes of the job then write there, and those of every other job into a
// folder below it, named by the job. It refuses to take a folder for a job that
// has no name ([ErrName]).
package logdir
