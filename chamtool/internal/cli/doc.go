// Package cli holds the commands of chamtool, one file per command. A command reads
// flags and prints; the packages it calls compute the answer.
//
//	func main() { cli.Main(chamtool.New) }
package cli
