// Package cli holds the commands of deft, one file each. It reads flags and
// prints; every decision is in the packages it calls.
//
//	func main() { cli.Main(deft.New) }
package cli
