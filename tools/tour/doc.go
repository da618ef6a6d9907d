// Package tour runs the built tools end to end on small real inputs and collects
// their measurements.
//
// A chapter is one tool's part: a file of its own with a function that runs the
// tool's binary with --json and returns Measures. The tour imports no tool; it sees
// what a user sees. The first chapter that fails ends the tour with its name and
// the tool's error.
package tour
