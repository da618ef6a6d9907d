// Package simulate replays the recorded iterations of a job with and without moving tasks,
// to predict its makespan in both cases.
//
// A rank has workers that run its queue (one if none was recorded) and one communication
// thread that sends one task at a time. Sending a task keeps the sender's communication
// thread busy for the migration cost, and the task arrives at the receiver after the delay;
// loads are exchanged at a fixed interval. Tasks that came from another rank are not moved
// again. The same logs give the same result. Logs without a complete iteration are an error
// ([ErrRecorded]).
package simulate
