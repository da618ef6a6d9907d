// Package history describes how the finished runs of a command went on.
//
// A run has a pace at any point: the time of its recent units, and its ratio to the time of
// the earlier ones. A shape is the pace of a finished run at a share of its units together
// with the time that the rest then took. Of runs whose output has no counter only the
// duration counts. A run too short to have a pace has no shape, and a past of no runs
// predicts nothing.
package history
