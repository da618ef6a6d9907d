// Package cli holds the commands of mirage, one file each. It reads flags and
// prints: results on stdout, as text or with --json as JSON, diagnostics on
// stderr. Every decision is in the packages it calls.
//
//	func main() { cli.Main(mirage.New) }
package cli
