// Package cli is the command allox-est: one file for what belongs together.
//
// It decides what a user types and reads: flags, tables, JSON, progress. It
// refuses to compute anything itself: the packages beside it do.
//
// A complete program:
//
//	func main() { cli.Main(alloxest.New) }
package cli
