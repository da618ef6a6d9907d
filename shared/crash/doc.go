// Package crash turns a panic in any goroutine into a one-line error.
//
// In a Group a panic is the group's error. In Go it is passed to the function that
// Handle installed; without one it stays a panic with its stack, as in tests. No
// panic is ignored. All goroutines of the tools are started by this package.
package crash
