// Package calibrate finds the settings under which the simulator's waits come
// closest to those in a log.
//
// It decides what closest means, in one figure ([Loss]): the mean absolute
// error of the waits relative to their mean, plus the relative error of the
// mean, plus one minus the rank correlation. Job by job a wait of more than a
// day counts as a day, because such waits are mostly holds and dependencies
// that no log tells of; the mean is that of the whole waits, because a
// simulator whose queue is always short is of no use to who plans with it.
// Times at which nodes were evidently down ([Outages]) are taken out of the
// log first, so that the search does not explain them by a smaller machine.
// It searches nodes and user limit first and weights then, one at a time,
// until nothing gets better, and reports the held-out range beside the
// training range; it refuses to look at the held-out range before.
package calibrate
