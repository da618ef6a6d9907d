// Package task turns the events of many threads into tasks: where each came
// from, what it was given, how long it waited and how long it ran.
//
// A [Tracker] decides how events of different rings belong together: a task is
// known by its token, a nested task suspends the one around it, and every
// creation that happened before a start is taken before it. It refuses to
// guess: an end without its start, or a start whose creation was dropped, is
// counted in [Counts] and reported to nobody.
package task
