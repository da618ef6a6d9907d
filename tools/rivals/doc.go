// Package rivals compares the tools with alternatives, alternating between the two
// in one run, and shows where they lose.
//
// The measure is the ratio of each round, ours over the rival's, so a change of the
// machine's speed affects both. A rival that is not installed is named and skipped.
package rivals
