// Package balance decides which tasks move to which rank, from loads in
// predicted seconds.
//
// [Table] is the offload table: ranks above the mean load are paired with
// those below it, greedily, in seconds and not in tasks, so that no rank needs
// to know how many tasks another has. [Pick] turns an amount of seconds into
// tasks of one's own. The package decides never to overshoot: a move that would
// make the receiver the later one is not made. It refuses loads that are not
// finite or are negative, by taking them as zero.
//
//	for _, t := range balance.Table(loads, 0.001) {
//		if t.From == me {
//			for _, i := range balance.Pick(tasks, t, 0.0001) {
//				move(i, t.To)
//			}
//		}
//	}
package balance
