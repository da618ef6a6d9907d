// Package session is the online path of one rank: events become tasks, which are predicted,
// learned from, logged and counted. The library inside a running program and the replay of a
// log use the same session with different events.
//
// Every task is predicted from the tasks that had ended when it starts, then scored, then
// learned from, never in another order. Clocks, files, symbols and core frequencies are
// arguments. A session never fails a run: an error with a log is a warning in the
// [summary.Summary].
package session
