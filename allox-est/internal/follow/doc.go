// Package follow keeps the estimate of a run that is under way: how long the
// whole of it takes, with an interval that narrows as epochs end.
//
// It decides for its caller what a mark changes: the units done count as they were,
// those to come as estimate.Continue says from them. It refuses to answer before four
// marks, and it says when the run has left the interval that it first gave.
package follow
