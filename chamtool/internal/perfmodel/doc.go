// Package perfmodel learns the run times of the tasks of one function from the sizes of
// their arguments, while they run.
//
// An [Entry] is one task function. Four experts, listed in [Models], predict its tasks: two
// use sizes and past runs only, two also use the [Moment]: when a task was created, its
// worker and the clock. A prediction is a mixture of the experts, weighted by
// the error of each, in this function and in all functions of the process.
//
// The package decides when to fit again, which runs repeat known ones, which kept runs are no
// longer valid, and the width of the interval. Before the first fit it returns
// [ErrUntrained], except for sizes that ran in a process that knows its experts. A predicted
// time is always above zero.
//
// A [Store] contains the runs that a host keeps from one program to the next. In
// [SharedStore] all processes of the host add to one file, guarded by a try-lock: a process
// that does not get it leaves its runs in a side file, which the next holder merges. An
// unreadable file is set aside, never overwritten.
//
// The files in reading order: model, entry, trial, expert, footprint, tracked, level, near,
// speed, numbers; local, power, features for the law of the sizes; kept, listing, store,
// storefile for the runs that are kept.
package perfmodel
