// Package mark finds the progress of a program in its output.
//
// It finds the number that counts the program's work, in lines of any form: the numbers
// of each line are masked, and lines that then have the same prefix belong together. A
// number in them that grows by an even step, or towards a constant one next to it
// ("3/90", "3 of 90"), is a counter. A counter that restarts again and again counts
// within another one. If two readings are possible, it reports both and chooses none.
package mark
