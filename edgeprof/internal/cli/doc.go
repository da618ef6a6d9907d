// Package cli holds the commands of edgeprof, one file per command. A command reads
// flags and prints; the packages it calls compute the answer.
//
//	func main() { cli.Main(edgeprof.New) }
package cli
