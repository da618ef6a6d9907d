// Package cli holds the commands of allox-est, one file each. It reads flags and
// prints tables, JSON and progress; the domain packages compute the results.
//
// A complete program:
//
//	func main() { cli.Main(alloxest.New) }
package cli
