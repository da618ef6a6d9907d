// Package report adds up how well a rank's tasks were predicted, and what the
// tool itself cost.
//
// [Errors] takes predictions one at a time in memory that does not grow; its
// median is exact to half a percent of itself. It refuses to score what has no
// score: without a prediction every figure is NaN and absent from the JSON.
package report
