// Package balance decides which tasks move to which rank, from loads in predicted seconds.
//
// [Situation.Transfers] returns the decision: the offload table ([PlanTransfers]), limited to what
// a receiver can process within a horizon ([Stock]). Ranks above the mean load are paired
// greedily with those below it, in seconds and not in tasks, so no rank needs to know how
// many tasks another has. [Moves] turns a rank's transfers into tasks of its own. Time is
// an argument.
//
// A move that would make the receiver end later than the sender is not made. Loads that are
// negative or not finite count as zero.
package balance
