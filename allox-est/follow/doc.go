// Package follow keeps the estimate of a run that is under way: how long the
// whole of it takes, with an interval that narrows as epochs end.
//
// It decides for its caller what an epoch's end changes: the epochs done count as
// they were, those to come as estimate.Total says from them, and the time before
// the first epoch's end counts once. It refuses to answer before four epochs have
// ended, and it says when the run has left the interval that it first gave.
package follow
