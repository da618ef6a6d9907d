// Package perfmodel learns how long the tasks of one function take, from the
// sizes of their arguments, while they run.
//
// An [Entry] is one task function. Five experts, of [Models], answer for its tasks:
// two know sizes and runs alone, three also the [Moment], when a task was created, by
// which worker and at which clock it runs. What serves is a mixture of them, weighed
// by how far off each was, here and in all functions of the process.
//
// It decides when to fit again, which runs only repeat what is known, which kept
// runs do not hold any more, and how wide the interval is. It refuses to predict
// before the first fit ([ErrUntrained]) but for sizes that ran in a process that
// knows its experts, and never answers with a time of zero or less.
//
// A [Store] is what a host keeps of it from one program run to the next. In
// [SharedStore] all processes of the host add to its file, by a lock that nobody
// waits for: each leaves its runs in a file beside it, and whoever has the lock
// takes them in. A file that cannot be read is set aside, never overwritten.
package perfmodel
