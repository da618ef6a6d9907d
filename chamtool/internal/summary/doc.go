// Package summary adds up what a rank's run predicted and measured, as its live session
// writes it and the report of a job reads it: a [Summary] per rank, one JSON file each.
//
// [Errors] sums up prediction errors in constant memory; its median is exact to 0.5 %.
// Without a prediction every error measure is NaN and absent from the JSON.
package summary
