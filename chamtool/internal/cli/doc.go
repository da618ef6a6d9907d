// Package cli holds the commands of chamtool, one file each. It reads flags and
// prints; every decision is in the packages it calls.
//
//	func main() { cli.Main(chamtool.New) }
package cli
