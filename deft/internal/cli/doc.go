// Package cli holds the commands of deft, one file per command. A command reads flags
// and prints; the packages it calls compute the answer.
//
//	func main() { cli.Main(deft.New) }
package cli
