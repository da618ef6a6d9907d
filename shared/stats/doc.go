// Package stats has the order statistics that all the tools use, each
// definition once and by its name. Moments are those of gonum's stat.
//
// The functions ask for at least one value, none of them NaN, and shares from
// 0 to 1: a caller that cannot promise this checks first. They panic
// otherwise, as gonum's do, for no number would be an answer.
package stats
