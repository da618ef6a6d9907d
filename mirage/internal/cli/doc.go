// Package cli holds the commands of mirage, one file each. It reads flags and
// prints: results on stdout, as a page, JSON or CSV, diagnostics on stderr. Every
// decision is in the packages it calls.
package cli
