// Package simulate plays the recorded iterations of a job again, without moving
// tasks and with, to predict its makespan either way.
//
// It decides what a rank is: workers that run its queue, one where nothing was
// recorded, and one communication thread that sends one task at a time. Sending a
// task keeps the sender's communication thread busy for the migration cost, and the
// task is at the receiver after the delay; loads are exchanged at a fixed interval.
// Tasks that came from another rank stay. The same logs give the same result. It
// refuses logs that tell of no complete iteration ([ErrRecorded]).
package simulate
