// Package session is the online path of one rank: events in, tasks understood,
// predicted, learned from, logged and added up. The library inside a running
// program and the replay of a log are the same session with other events.
//
// It decides the order: every task is predicted with what had ended when it
// starts, then scored, then learned from, never the other way round. What it needs of the
// outside world (clocks, files, symbols, core frequencies) is given to it; it
// refuses to fail a run: what goes wrong with a log is a warning in the
// [report.Summary].
package session
