// Package balance decides which tasks move to which rank, from loads in
// predicted seconds.
//
// [Situation.Transfers] is the decision: the offload table ([Table]), of which a
// receiver gets at once what it works off for a while ([Stock]). Ranks above the
// mean load are paired with those below it, greedily, in seconds and not in
// tasks, so that no rank needs to know how many tasks another has. [Moves] turns
// a rank's transfers into tasks of its own. The simulator and the tool in the
// real runtime decide by the same code; time comes in as an argument.
//
// The package decides never to overshoot: a move that would make the receiver
// the later one is not made. It refuses loads that are not finite or are
// negative, by taking them as zero.
package balance
