// Package cli holds the commands of mirage, one file each.
//
// It decides what is read from the command line and what is printed: results
// on stdout, as text or with --json as JSON, diagnostics on stderr. It leaves
// every other decision to the packages it calls.
//
//	func main() { shared.Main(cli.Root) }
package cli
