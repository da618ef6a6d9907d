// Package mark finds in what a program prints how far it has come.
//
// It decides for its caller which number of which line counts the program's work,
// whatever the line looks like: the numbers of a line are masked, lines that then
// begin alike belong together, and a number among them that grows by an even step,
// or towards a constant one beside it ("3/90", "3 of 90"), is a counter. A counter
// that begins again and again counts inside of another. It refuses to guess where
// two readings are open, and says what it saw.
package mark
