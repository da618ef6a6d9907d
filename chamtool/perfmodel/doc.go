// Package perfmodel learns how long the tasks of one function take, from the
// sizes of their arguments, while they run.
//
// An [Entry] is one task function. It holds several models of the same runs, each
// a file of this package and a line of [Models], and serves their middle, weighted
// by how close each was lately on tasks it had not seen when it answered. Some
// know sizes alone; others also the [Moment]: when a task was created, by which
// worker and at which clock it runs.
//
// It decides when to fit again, which runs only repeat what is known and which
// are outliers, when the program has drifted away from what was learned, and
// how wide the interval is. It refuses to predict before the first fit
// ([ErrUntrained]), and never answers with a time of zero or less.
//
// A [Store] is what a host keeps of it from one program run to the next. In
// [SharedStore] all processes of the host add to its file, by a lock that nobody
// waits for: each leaves its runs in a file beside it, and whoever has the lock
// takes them in. A file that cannot be read is set aside, never overwritten.
package perfmodel
