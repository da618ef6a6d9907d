// Package follow estimates the total time of a run in progress, with an interval that
// narrows as epochs end.
//
// Finished units count with their actual time; estimate.Continue estimates those to
// come. The first estimate comes after four marks. An Update says when the estimate has
// left the first interval.
package follow
