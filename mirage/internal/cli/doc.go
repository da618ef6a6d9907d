// Package cli holds the commands of mirage, one file each. It reads flags and prints
// results to stdout, as text, JSON or CSV, and diagnostics to stderr. The domain
// packages compute the results.
package cli
