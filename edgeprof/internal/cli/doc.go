// Package cli holds the commands of edgeprof, one file each. It reads flags and
// prints; every decision is in the packages it calls.
//
//	func main() { cli.Main(edgeprof.New) }
package cli
