// Package simulate plays one iteration of a task program on many ranks, or those
// that a job's logs tell of, to compare ways of balancing it.
//
// It decides what a rank is: workers that run its queue, one where nothing was
// recorded, and one
// communication thread that sends one task at a time. Sending a task keeps the
// sender's communication thread busy for the migration cost, and the task is at
// the receiver after the delay; loads are exchanged at a fixed interval. Tasks
// that came from another rank stay. The same parameters and seed give the same
// result. It refuses parameters that describe no program ([ErrParameter]).
package simulate
