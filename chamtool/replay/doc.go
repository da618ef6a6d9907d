// Package replay feeds a log through the online path: the same rings, tracker,
// models and scores that a running program has, with the log's runs as events.
//
// It decides that each log is a rank of its own, as it was. What comes out is
// what the tool would have known then: every run predicted from the runs before
// it alone. It refuses logs without runs ([ErrNoRuns]).
package replay
